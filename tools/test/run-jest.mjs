import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join, relative } from 'node:path';
import { stopProcess } from '../stack/processes.mjs';
import { say, seconds } from '../stack/progress.mjs';
import { nodeBinary, ROOT, withInstalledBinaries } from '../stack/runtime.mjs';

const NODE_FLAGS = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];

/** Tests wait for processes, servers and locks more than they compute. */
const WORKERS = Math.max(2, Math.floor(availableParallelism() / 2));

/** Of an option that is given twice, jest would take the first. */
const NAMES_WORKERS = /^(?:-w|--maxWorkers)(?:=|$)/;

/** How many of the slowest files are named after a larger run. */
const SLOWEST = 10;

const RESULTS_WRITTEN_WITHIN_MS = 15_000;

/**
 * Jest's words when it runs in one process (`--runInBand`) and a test file left something open, which fails the file (environment.mjs): jest may then
 * wait for ever. (Its words about a worker that it ended by force are not a failure: a busy machine may need longer than it gives, jest.config.mjs.)
 */
const LEFT_OPEN = 'after the test run has completed';

/**
 * Runs jest and counts.
 *
 * @param {string[]} args passed on to jest
 * @param {object} options
 * @param {Record<string, string>} options.env
 * @param {string} options.resultFile where jest may write its JSON
 * @param {(stop: () => Promise<unknown>) => void} options.onStart given the way to stop it early
 * @returns {Promise<{ passed: number, failed: number }>} a file that cannot be loaded, or leaves something open, counts as a failure
 */
export async function runJest(args, { env, resultFile, onStart }) {
  const child = spawn(
    nodeBinary(),
    [...NODE_FLAGS, 'node_modules/jest/bin/jest.js', ...optionsOf(args, resultFile)],
    {
      cwd: ROOT,
      env: {
        ...withInstalledBinaries(withoutSettings(process.env)),
        ...(process.stdout.isTTY ? { FORCE_COLOR: '1' } : {}),
        ...env,
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  onStart(() => stopProcess(child));
  const leftOpen = watchForLeftOvers(child);
  const code = await new Promise((resolve) => child.once('close', resolve));
  return count({ code, leftOpen: leftOpen(), resultFile });
}

/**
 * The environment without what would change how the apps under test behave: the settings of Posthorn, and Postgres's own (PGSSLMODE …).
 *
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function withoutSettings(env) {
  const settings = new Set(
    Array.from(
      readFileSync(join(ROOT, '.env.example'), 'utf8').matchAll(/^# ([A-Z\d_]+)=/gm),
      ([, name]) => name,
    ),
  );
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !settings.has(name) && !/^PG[A-Z]+$/.test(name)),
  );
}

/**
 * The options of jest: ours, and those that were given.
 *
 * @param {string[]} args
 * @param {string} resultFile
 * @returns {string[]}
 */
export function optionsOf(args, resultFile) {
  const workers = args.some((arg) => NAMES_WORKERS.test(arg)) ? [] : [`--maxWorkers=${WORKERS}`];
  return [...workers, '--json', `--outputFile=${resultFile}`, ...args];
}

function watchForLeftOvers(child) {
  let found = false;
  child.stderr.on('data', (chunk) => {
    process.stdout.write(chunk);
    if (!chunk.includes(LEFT_OPEN)) return;
    found = true;
    // Jest may now wait for ever; before it is stopped, it gets time to write its results.
    setTimeout(() => void stopProcess(child, { withinMs: 2_000 }), RESULTS_WRITTEN_WITHIN_MS).unref();
  });
  return () => found;
}

function count({ code, leftOpen, resultFile }) {
  if (!existsSync(resultFile)) {
    say(`Jest ended (${code ?? 'by a signal'}) before it had written how many tests passed.`);
    return { passed: 0, failed: 1 };
  }
  const results = JSON.parse(readFileSync(resultFile, 'utf8'));
  if (results.testResults.length > SLOWEST) say(slowest(results.testResults));
  const failed = results.numFailedTests + results.numRuntimeErrorTestSuites + (leftOpen ? 1 : 0);
  return { passed: results.numPassedTests, failed: failed === 0 && code !== 0 ? 1 : failed };
}

/** @param {{ name: string, startTime: number, endTime: number }[]} files */
function slowest(files) {
  const longestFirst = files.toSorted((a, b) => tookMs(b) - tookMs(a)).slice(0, SLOWEST);
  const lines = longestFirst.map(
    (file) => `${seconds(tookMs(file)).padStart(9)}  ${relative(ROOT, file.name)}`,
  );
  return `The slowest files:\n${lines.join('\n')}`;
}

function tookMs({ startTime, endTime }) {
  return endTime - startTime;
}
