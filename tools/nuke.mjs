// npm run nuke: stops everything and removes what it has kept.
import { existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { say } from './stack/progress.mjs';
import { STATE_FOLDER } from './stack/state.mjs';
import { stopSupervisor } from './stack/stop-supervisor.mjs';

const HELP = `npm run nuke [-- --yes]
Stops Posthorn and removes .posthorn: its database, its queues, the inbox, keys and logs. Asks first, unless --yes.
A database or Redis of yours (DATABASE_URL, REDIS_URL) is not touched.`;

async function isMeant(args) {
  if (args.includes('--yes') || args.includes('-y')) return true;
  if (!process.stdin.isTTY) {
    say('This removes every email and key of the local stack. Say so: npm run nuke -- --yes');
    return false;
  }
  const asked = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await asked.question('Remove every email and key of the local stack? [y/N] ');
  asked.close();
  return /^y(es)?$/i.test(answer.trim());
}

async function main(args) {
  if (!existsSync(STATE_FOLDER)) return say('There is nothing to remove.');
  if (!(await isMeant(args))) {
    process.exitCode = 1;
    return say('Nothing was removed.');
  }
  await stopSupervisor();
  rmSync(STATE_FOLDER, { recursive: true, force: true });
  return say('Posthorn is down and .posthorn is gone.');
}

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) say(HELP);
else await main(args);
