// npm test: every unit, integration and end-to-end test, with a Postgres and a Redis of its own.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder } from './stack/account.mjs';
import { build } from './stack/build.mjs';
import { ensureInstalled } from './stack/install.mjs';
import { migrate, summariseMigrations } from './stack/migrate.mjs';
import { freePort } from './stack/ports.mjs';
import { ensureDatabase, FAST_AND_TEMPORARY, startPostgres } from './stack/postgres.mjs';
import { askedToStop, endAll, stopProcess } from './stack/processes.mjs';
import { elapsed, say, step } from './stack/progress.mjs';
import { redisBinary } from './stack/redis-binary.mjs';
import { startRedis } from './stack/redis.mjs';
import { describeFault } from './stack/script.mjs';
import { runJest } from './test/run-jest.mjs';

const HELP = `npm test [-- [--no-build] <what jest takes, e.g. a path or --selectProjects unit>]
Runs all tests: installs what is missing, builds, starts a Postgres and a Redis of its own on free ports, and takes
everything away again. The last line is "N passed, N failed". TEST_POSTGRES_URL and TEST_REDIS_URL name servers to use
instead; --no-build tests what was built before.`;

/** Run in reverse order. @type {(() => unknown)[]} */
const cleanups = [];

/** What cannot be taken away says nothing about the tests: their outcome counts. */
async function cleanUp() {
  for (const action of cleanups.splice(0).reverse()) {
    try {
      await action();
    } catch (error) {
      say(`Something is left: ${describeFault(error)}`);
    }
  }
}

/** @returns {Promise<string>} the URL of the server's maintenance database */
async function preparePostgres(directory) {
  const given = process.env.TEST_POSTGRES_URL;
  if (given !== undefined) return given;
  const postgres = await startPostgres({
    directory: join(directory, 'postgres'),
    port: await freePort(),
    settings: FAST_AND_TEMPORARY,
  });
  // At once (immediate shutdown): nothing that it would still write is needed. One that is killed because that takes too long leaves processes.
  cleanups.push(() => stopProcess(postgres.child, { signal: 'SIGQUIT', withinMs: 60_000 }));
  return postgres.url();
}

async function prepareRedis(directory) {
  const given = process.env.TEST_REDIS_URL;
  if (given !== undefined) return given;
  const redis = await startRedis({
    directory: join(directory, 'redis'),
    port: await freePort(),
  });
  cleanups.push(redis.stop);
  return redis.url;
}

async function prepareTemplate(maintenanceUrl) {
  await ensureDatabase(maintenanceUrl, 'posthorn_template');
  const template = new URL(maintenanceUrl);
  template.pathname = '/posthorn_template';
  return migrate(template.href);
}

/** @param {string[]} args @returns {Promise<{ passed: number, failed: number }>} */
async function test(args) {
  const directory = makeTemporaryFolder('test');
  // Apps that are just ending may still write what they have compiled.
  cleanups.push(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
  // First, because it may fail and need the user, who should not learn that only after the minutes that the rest takes.
  if (process.env.TEST_REDIS_URL === undefined) await step('Redis program', redisBinary, String);
  await step('Packages', ensureInstalled, String);
  if (!args.includes('--no-build')) await step('Build', build);
  const postgresUrl = await step('Postgres', () => preparePostgres(directory));
  const redisUrl = await step('Redis', () => prepareRedis(directory));
  await step('Migrations', () => prepareTemplate(postgresUrl), summariseMigrations);
  const env = {
    TEST_POSTGRES_URL: postgresUrl,
    TEST_REDIS_URL: redisUrl,
    // Tests start hundreds of processes of the same code.
    NODE_COMPILE_CACHE: join(directory, 'compiled'),
  };
  const rest = args.filter((arg) => arg !== '--no-build');
  return runJest(rest, {
    env,
    resultFile: join(directory, 'results.json'),
    onStart: (stop) => cleanups.push(stop),
  });
}

async function main(args) {
  let outcome = { passed: 0, failed: 1 };
  try {
    outcome = await test(args);
  } catch (error) {
    say(describeFault(error));
  } finally {
    await cleanUp();
  }
  say(`Took ${elapsed()}.`);
  say(`${outcome.passed} passed, ${outcome.failed} failed`);
  process.exitCode = outcome.failed === 0 ? 0 : 1;
}

void askedToStop()
  .then(cleanUp)
  .then(endAll)
  .finally(() => process.exit(130));

const args = process.argv.slice(2);
if (args.includes('--help') || args.includes('-h')) say(HELP);
else await main(args);
