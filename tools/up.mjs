// npm run up: the whole of Posthorn on this machine, with one command.
import { parseArgs } from 'node:util';
import { detach } from './stack/detach.mjs';
import { ensureInstalled } from './stack/install.mjs';
import { elapsed, say, step } from './stack/progress.mjs';
import { readSettings } from './stack/settings.mjs';
import { Stack } from './stack/stack.mjs';
import { readJson, STACK_FILE, supervisorPid } from './stack/state.mjs';
import { summary } from './stack/summary.mjs';

const HELP = `npm run up [-- --detach] [--no-build]
Installs what is missing, builds, and starts Posthorn with a Postgres, a Redis and an inbox of its own; makes a workspace
with keys, and prints what to do next. Ctrl-C stops everything. What was sent survives in .posthorn for the next time.

  --detach     return when all is healthy; npm run down stops it
  --no-build   start what was built before

DATABASE_URL, REDIS_URL and SMTP_URL, in the environment or in .env, name a server of yours instead; every other setting
(.env.example) is passed on to the apps.`;

function alreadyUp(pid) {
  const stack = readJson(STACK_FILE);
  if (stack === undefined) {
    say(`Posthorn is being started or stopped by process ${pid}. Wait for it, or stop it: npm run down`);
    process.exitCode = 1;
  } else {
    say(`Posthorn is already up, kept by process ${pid}; npm run down stops it.\n${summary(stack)}`);
  }
}

/** Resolves with the first signal that asks to stop; further ones change nothing. */
function askedToStop() {
  return new Promise((resolve) => {
    for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']))
      process.on(signal, () => resolve(signal));
  });
}

async function keepUp({ withBuild }) {
  const stack = new Stack(readSettings());
  const stopped = askedToStop();
  const started = stack.start({ withBuild }).then(
    (description) => say(`${summary(description)}Took ${elapsed()}. Ctrl-C stops everything.`),
    (error) => {
      say(`\nPosthorn did not start. ${error.message}`);
      process.exitCode = 1;
      return 'failed';
    },
  );
  if ((await Promise.race([started, stopped])) !== 'failed') await stopped;
  say('Stopping …');
  await step('Everything stopped', () => stack.stop());
  // A step of the start may still be waiting for something that will never come.
  process.exit();
}

const { values } = parseArgs({
  options: {
    'detach': { type: 'boolean', short: 'd' },
    'no-build': { type: 'boolean' },
    'help': { type: 'boolean', short: 'h' },
  },
});
const pid = supervisorPid();
if (values.help) say(HELP);
else if (pid !== undefined) alreadyUp(pid);
else {
  try {
    if (process.env.POSTHORN_DETACHED === undefined) await step('Packages', ensureInstalled, String);
    const withBuild = values['no-build'] !== true;
    if (values.detach) await detach({ withBuild });
    else await keepUp({ withBuild });
  } catch (error) {
    say(error.message);
    process.exitCode = 1;
  }
}
