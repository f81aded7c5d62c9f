// npm run nuke: stops everything and removes what it has kept.
import { existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { say } from './stack/progress.mjs';
import { runScript } from './stack/script.mjs';
import { STATE_FOLDER } from './stack/state.mjs';
import { stopSupervisor } from './stack/stop-supervisor.mjs';

const HELP = `npm run nuke [-- --yes]
Stops Posthorn and removes .posthorn: its database, its queues, the inbox, keys and logs. Asks first, unless --yes.
A database or Redis of yours (DATABASE_URL, REDIS_URL) is not touched.`;

/** @param {{ yes?: boolean }} values */
async function isMeant({ yes }) {
  if (yes) return true;
  if (!process.stdin.isTTY) {
    say('This removes every email and key of the local stack. To confirm: npm run nuke -- --yes');
    return false;
  }
  return /^y(es)?$/i.test((await ask('Remove every email and key of the local stack? [y/N] ')).trim());
}

/** Resolves with an empty answer on Ctrl-C or Ctrl-D. @param {string} question @returns {Promise<string>} */
function ask(question) {
  const asked = createInterface({ input: process.stdin, output: process.stdout });
  return new Promise((resolve) => {
    asked.once('close', () => resolve(''));
    asked.question(question, (answer) => {
      resolve(answer);
      asked.close();
    });
  });
}

async function nuke(values) {
  if (!existsSync(STATE_FOLDER)) return say('There is nothing to remove.');
  if (!(await isMeant(values))) {
    process.exitCode = 1;
    return say('Nothing was removed.');
  }
  await stopSupervisor();
  rmSync(STATE_FOLDER, { recursive: true, force: true });
  return say('Posthorn is down and .posthorn is gone.');
}

await runScript({ help: HELP, options: { yes: { type: 'boolean', short: 'y' } }, work: nuke });
