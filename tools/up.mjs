// npm run up: the whole of Posthorn on this machine, with one command.
import { setTimeout as sleep } from 'node:timers/promises';
import { checkedOut } from './stack/checked-out.mjs';
import { detach } from './stack/detach.mjs';
import { ensureInstalled } from './stack/install.mjs';
import { askedToStop, endAll, ORPHANS_GONE_AFTER_MS } from './stack/processes.mjs';
import { elapsed, say, step } from './stack/progress.mjs';
import { redisBinary } from './stack/redis-binary.mjs';
import { describeFault, runScript } from './stack/script.mjs';
import { readSettings } from './stack/settings.mjs';
import { Stack } from './stack/stack.mjs';
import {
  truncateLargeLogs,
  claimSupervision,
  endSupervision,
  makeStateFolder,
  readJson,
  STACK_FILE,
  supervisorPid,
  wasKilled,
} from './stack/state.mjs';
import { summary } from './stack/summary.mjs';

const HELP = `npm run up [-- --detach] [--no-build]
Installs what is missing, builds, and starts Posthorn with a Postgres, a Redis and an inbox of its own; creates a workspace
with keys, and prints what to do next. Ctrl-C stops everything. Its data stays in .posthorn for the next time.

  --detach     return when all is healthy; npm run down stops it
  --no-build   start what was built before

DATABASE_URL, REDIS_URL and SMTP_URL, in the environment or in .env, name a server of yours instead; every other setting
(.env.example) is passed on to the apps.`;

const LOGS_TRUNCATED_EVERY_MS = 60_000;

/** Whether another process started this one with --detach, and waits for it at the other end of the IPC channel. */
const isDetached = process.send !== undefined;
let isUp = false;

async function alreadyUp(pid) {
  const stack = readJson(STACK_FILE);
  const release = await checkedOut();
  if (stack?.release === release) {
    say(`Posthorn is already up, run by process ${pid}; npm run down stops it.\n${summary(stack)}`);
    return;
  }
  process.exitCode = 1;
  say(
    stack === undefined
      ? `Posthorn is being started or stopped by process ${pid}. Wait for it, or stop it: npm run down`
      : `Posthorn is already up, run by process ${pid}, but not as it is checked out now (${release}): npm run down stops it, and npm run up then starts that.`,
  );
}

/** Resolves when the process that waits for this one to be up has been killed. @returns {Promise<void>} */
function abandoned() {
  return new Promise((resolve) => {
    process.once('disconnect', () => isUp || resolve());
  });
}

/** Makes this process the supervisor. @throws when another one is */
async function claim() {
  if (wasKilled()) {
    say('  … the process that ran Posthorn was killed: what it had started is stopping');
    await sleep(ORPHANS_GONE_AFTER_MS);
  }
  await claimSupervision();
}

/** @param {Record<string, string>} settings @param {Stack} stack @param {{ withBuild: boolean }} options */
async function start({ REDIS_URL }, stack, options) {
  // First, because it may fail and need the user, who should not learn that only after the minutes that the rest takes.
  if (REDIS_URL === undefined) await step('Redis program', redisBinary, String);
  await step('Packages', ensureInstalled, String);
  const description = await stack.start(options);
  const how = isDetached ? 'It runs in the background: npm run down stops it.' : 'Ctrl-C stops everything.';
  say(`${summary(description)}Took ${elapsed()}. ${how}`);
  isUp = true;
  // Who is gone by now need not be told.
  process.send?.('up', () => undefined);
}

/** @param {{ withBuild: boolean }} options */
async function keepUp(options) {
  const settings = readSettings();
  const stack = new Stack(settings);
  await claim();
  setInterval(truncateLargeLogs, LOGS_TRUNCATED_EVERY_MS).unref();
  const stopped = Promise.race([askedToStop(), abandoned()]).then(() => 'stopped');
  const failed = start(settings, stack, options).then(
    () => stopped,
    (error) => error,
  );
  const reason = await Promise.race([failed, stopped]);
  if (reason !== 'stopped') {
    say(`\nPosthorn did not start. ${describeFault(reason)}`);
    process.exitCode = 1;
  }
  say('Stopping …');
  await step('Everything stopped', async () => {
    await stack.stop();
    await endAll();
    endSupervision();
  });
  // A step of the start may still be waiting for something that will never come.
  process.exit();
}

await runScript({
  help: HELP,
  options: { 'detach': { type: 'boolean', short: 'd' }, 'no-build': { type: 'boolean' } },
  work: async (values) => {
    const pid = supervisorPid();
    if (pid !== undefined) return alreadyUp(pid);
    makeStateFolder();
    const withBuild = values['no-build'] !== true;
    return values.detach ? detach({ withBuild }) : keepUp({ withBuild });
  },
});
