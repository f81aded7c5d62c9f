// Applies the migrations that the database has not seen: `DATABASE_URL=… npm run migrate`.
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { explain, traceIfWanted } from './posthorn/explain.mjs';
import { exitOnSignals } from './stack/exit-on-signals.mjs';
import { say } from './stack/progress.mjs';
import { ROOT } from './stack/runtime.mjs';
import { runScript } from './stack/script.mjs';
import { readSettings } from './stack/settings.mjs';
import { delayText } from './posthorn/migration-delay.mjs';
import { NotReady } from './posthorn/usage-error.mjs';
import { whenBuilt } from './posthorn/when-built.mjs';

const HELP = `npm run migrate [-- --wait]
Applies every migration that the database at DATABASE_URL (environment or .env) has not seen, each in a transaction of its own, or as an index that is built while its table is written to.
Safe to run from several places at once, and again. Needs a build (npm run build). While it waits, it says on stderr what for.

  --wait   changes nothing, and returns when somebody else has applied them all; fails after half an hour`;

const MIGRATIONS = join(ROOT, 'prisma', 'migrations');
const WAIT_MS = 30 * 60_000;
const POLL_EVERY_MS = 2_000;

async function main({ wait = false }) {
  const databaseUrl = readSettings().DATABASE_URL;
  if (!databaseUrl)
    throw new NotReady(
      'DATABASE_URL is not set: say which database to migrate, e.g. DATABASE_URL=postgresql://… npm run migrate',
    );
  const [settings, migrations] = await whenBuilt(() =>
    Promise.all([
      import('@posthorn/platform/settings'),
      import('../libs/database/dist/migrations/run-migrations.js'),
    ]),
  );
  // The driver would take a URL that is torn apart by its password, or is none, for that of another host.
  settings.readSettings({ database: settings.DatabaseSettings }, { DATABASE_URL: databaseUrl });
  if (wait) return waitUntilApplied(() => migrations.findUnapplied(databaseUrl, MIGRATIONS));
  const applied = await migrations.runMigrations(databaseUrl, MIGRATIONS, (delay) =>
    process.stderr.write(`migrate: ${delayText(delay)}\n`),
  );
  say(applied.length === 0 ? 'nothing to apply' : `applied ${applied.join(', ')}`);
}

/** @param {() => Promise<string[]>} findUnapplied */
async function waitUntilApplied(findUnapplied) {
  const until = performance.now() + WAIT_MS;
  let told = '';
  for (;;) {
    // Also waits for a database that does not answer yet.
    const { missing, reason } = await findUnapplied().then(
      (names) => ({ missing: names, reason: `${names.length} to be applied, the first is ${names[0]}` }),
      (error) => ({
        missing: undefined,
        reason: `the database cannot be queried: ${error.message || error.code}`,
      }),
    );
    if (missing?.length === 0) return say('nothing is missing');
    if (performance.now() > until) throw new NotReady(`gave up after ${WAIT_MS / 60_000} minutes: ${reason}`);
    if (reason !== told) say(`waiting: ${reason}`);
    told = reason;
    await sleep(POLL_EVERY_MS);
  }
}

/** SQLSTATE class 42 except 42501: a statement is wrong, which is a bug in a migration. */
const WRONG_STATEMENT = /^42(?!501)/;

/** One line where an operator can fix the cause, or else the stack trace. @param {any} error */
function reasonOf(error) {
  if (error.migration !== undefined) return `migration ${error.migration} failed: ${reasonOf(error.cause)}`;
  if (error.code === '42501')
    return `The role in DATABASE_URL lacks a privilege: use the role that the database belongs to (${error.message})`;
  return WRONG_STATEMENT.test(error.code) ? error.stack : explain(error);
}

exitOnSignals();
await runScript({
  help: HELP,
  options: { wait: { type: 'boolean' } },
  work: (values) =>
    main(values).catch((error) => {
      process.stderr.write(`migrate: ${reasonOf(error)}\n${traceIfWanted(error)}`);
      process.exitCode = 1;
    }),
});
