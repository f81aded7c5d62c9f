// npm run bench: measures accepting and sending against baselines of the same run.
import { appendFileSync, realpathSync, writeFileSync } from 'node:fs';
import { build } from './stack/build.mjs';
import { ensureInstalled } from './stack/install.mjs';
import { askedToStop } from './stack/processes.mjs';
import { elapsed, say, step } from './stack/progress.mjs';
import { describeFault, runScript } from './stack/script.mjs';

const HELP = `npm run bench [-- --quick] [--only accept,store,drain,compose,latency,posts,tell,fair] [--html FILE] [--json FILE] [--no-build]
       npm run bench -- --only memory,due [--emails 100000]
       npm run bench -- --only backlog [--rows 1000000]
Measures accepting, storing, draining, composing, latency, webhook deliveries and fairness among webhooks, on a Postgres (durable) and a
Redis of its own, three rounds each, and prints the medians with the goals, as ratios to baselines of the same run. Nothing leaves this
machine, and everything is removed at the end. Takes about fifteen minutes; run nothing else on the machine meanwhile.

  --quick      shorter rounds with fewer emails, about four minutes: a rough result, not for the record
  --only       some of accept, store, drain, compose, latency, posts, tell, fair; and memory, due and backlog, which are measured only when named
  --emails     for memory and due: how many emails are sent, 100,000, or 5,000 with --quick
  --rows       for backlog: how many scheduled emails wait meanwhile, 1,000,000, or 100,000 with --quick
  --html       a file with the HTML of the email, instead of 1.5 kB, for which the goals are meant
  --json       writes all rounds into a file as well
  --no-build   measures the existing build`;

const KINDS = ['accept', 'store', 'drain', 'compose', 'latency', 'posts', 'tell', 'fair'];
/** These take long, and are measured only when named. */
const LONG_KINDS = ['memory', 'due', 'backlog'];
const LONG_KIND_LIMIT_MS = 30 * 60_000;

const SCALES = {
  full: {
    rounds: 3,
    warmMs: 500,
    measureMs: 2_000,
    emails: 10_000,
    stored: 40_000,
    idle: 34,
    lone: 20,
    messages: 20_000,
    long: 100_000,
    workspaces: 1_000,
    rows: 1_000_000,
    posts: 20_000,
    tell: 20_000,
    fairSeconds: 20,
    limitMs: 17 * 60_000,
  },
  quick: {
    rounds: 3,
    warmMs: 200,
    measureMs: 600,
    emails: 2_000,
    stored: 8_000,
    idle: 10,
    lone: 5,
    messages: 5_000,
    long: 5_000,
    workspaces: 50,
    rows: 100_000,
    posts: 5_000,
    tell: 8_000,
    fairSeconds: 8,
    limitMs: 7 * 60_000,
  },
};

/** @type {import('./bench/environment.mjs').BenchEnvironment | undefined} */
let activeEnvironment;

/** @type {NonNullable<import('node:util').ParseArgsConfig['options']>} */
const OPTIONS = {
  'quick': { type: 'boolean' },
  'only': { type: 'string' },
  'html': { type: 'string' },
  'json': { type: 'string' },
  'emails': { type: 'string' },
  'rows': { type: 'string' },
  'no-build': { type: 'boolean' },
};

/** @param {any} values of the options */
function readArguments(values) {
  const kinds = values.only?.split(',') ?? KINDS;
  const known = [...KINDS, ...LONG_KINDS];
  const unknown = kinds.filter((kind) => !known.includes(kind));
  if (unknown.length > 0) throw new Error(`--only takes ${known.join(', ')}; not ${unknown.join(', ')}`);
  if (values.html !== undefined) process.env.BENCH_HTML = realpathSync(values.html);
  // Fails now where it cannot be written, not when everything has been measured.
  if (values.json !== undefined) appendFileSync(values.json, '');
  const scale = values.quick ? SCALES.quick : SCALES.full;
  const long = readCount('emails', values.emails) ?? scale.long;
  const rows = readCount('rows', values.rows) ?? scale.rows;
  return { kinds, json: values.json, withoutBuild: values['no-build'], scale: { ...scale, long, rows } };
}

/** @param {string} name @param {string | undefined} text */
function readCount(name, text) {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1_000) throw new Error(`--${name} takes a number from 1000 on`);
  return count;
}

/** @param {ReturnType<typeof readArguments>} options */
async function bench({ kinds, scale, json, withoutBuild }) {
  await step('Packages', ensureInstalled, String);
  if (!withoutBuild) await step('Build', build);
  // Imported here, because they need the packages.
  const { BenchEnvironment } = await import('./bench/environment.mjs');
  const { describeMachine } = await import('./bench/machine.mjs');
  const { measure } = await import('./bench/measure.mjs');
  const { markdown, rowsOf } = await import('./bench/report.mjs');
  const environment = new BenchEnvironment();
  activeEnvironment = environment;
  const longKinds = kinds.filter((kind) => LONG_KINDS.includes(kind));
  const limitMs = scale.limitMs + longKinds.length * LONG_KIND_LIMIT_MS;
  setTimeout(() => void abort('The run took too long.', 1), limitMs).unref();
  await step('Environment', () => environment.setUp());
  const machine = await describeMachine(environment);
  const rows = rowsOf(await measure(kinds, scale, environment));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  say(`\n${markdown(rows, machine)}\n`);
}

/** @type {Promise<never> | undefined} */
let aborting;

/** Removes everything and exits. Only the first call counts: what is running fails once its environment is gone. */
function abort(reason, code) {
  aborting ??= tearDownAndExit(reason, code);
  return aborting;
}

async function tearDownAndExit(reason, code) {
  say(reason);
  await activeEnvironment?.tearDown();
  return process.exit(code);
}

async function main(values) {
  try {
    await bench(readArguments(values));
    await activeEnvironment?.tearDown();
    say(`Took ${elapsed()}.`);
  } catch (error) {
    await abort(describeFault(error), 1);
  }
}

void askedToStop().then(() => abort('Stopping …', 130));
await runScript({ help: HELP, options: OPTIONS, work: main });
