// npm run bench: what accepting and sending cost, beside yardsticks of the same run.
import { realpathSync, writeFileSync } from 'node:fs';
import { build } from './stack/build.mjs';
import { ensureInstalled } from './stack/install.mjs';
import { STOP_SIGNALS } from './stack/processes.mjs';
import { elapsed, say, step } from './stack/progress.mjs';
import { describeFault, runScript } from './stack/script.mjs';

const HELP = `npm run bench [-- --quick] [--only accept,store,drain,compose,latency,posts,tell,fair] [--html FILE] [--json FILE] [--no-build]
       npm run bench -- --only memory,due [--emails 100000]
       npm run bench -- --only backlog [--rows 1000000]
Measures accepting, what the database takes, draining, composing, latency, telling webhooks and fairness among them on a Postgres (durable) and a Redis of its own, three rounds each, and prints the
medians beside the goals, as ratios to yardsticks of the same run. Everything stays on this machine and is taken away at the end.
About fifteen minutes; use nothing else on the machine meanwhile.

  --quick      shorter rounds with fewer emails, within a minute: for a look, not for the record
  --only       some of accept, store, drain, compose, latency, posts, tell, fair; and memory, due and backlog, which are only measured when they are named
  --emails     how many the sender sends while its memory is looked at, and how many are due in one second: 100,000, or 5,000 with --quick
  --rows       how many emails wait for their time while others are accepted and sent: 1,000,000, or 100,000 with --quick
  --html       a file with the HTML of the email that is sent, instead of 1.5 kB: the goals are meant for that
  --json       writes all rounds into a file as well
  --no-build   measure what was built before`;

const KINDS = ['accept', 'store', 'drain', 'compose', 'latency', 'posts', 'tell', 'fair'];
/** They take long, and are measured only by name. */
const LONG_KINDS = ['memory', 'due', 'backlog'];
const LIMIT_OF_A_LONG_KIND_MS = 30 * 60_000;

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

const onRound = (text) => say(`      ${text}`);

/** @type {import('./bench/ground.mjs').Ground | undefined} */
let ground;

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
  const scale = values.quick ? SCALES.quick : SCALES.full;
  const long = readCount('emails', values.emails) ?? scale.long;
  const rows = readCount('rows', values.rows) ?? scale.rows;
  return { kinds, json: values.json, asBuilt: values['no-build'], scale: { ...scale, long, rows } };
}

/** @param {string} name @param {string | undefined} text */
function readCount(name, text) {
  if (text === undefined) return undefined;
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1_000) throw new Error(`--${name} takes a number from 1000 on`);
  return count;
}

/** @param {string[]} kinds @param {typeof SCALES.full} scale */
async function measure(kinds, scale) {
  const { rounds, warmMs, measureMs, emails, idle, lone, messages, long, posts, tell, fairSeconds } = scale;
  const { workspaces, rows, stored } = scale;
  const { measureAccept } = await import('./bench/accept.mjs');
  const { measureStore } = await import('./bench/store.mjs');
  const { measureDrain } = await import('./bench/drain.mjs');
  const { measureCompose } = await import('./bench/compose.mjs');
  const { measureMemory } = await import('./bench/memory.mjs');
  const { measureDue } = await import('./bench/due.mjs');
  const { measureBacklog } = await import('./bench/backlog.mjs');
  const { measureIdle, measureLone } = await import('./bench/latency.mjs');
  const { measurePosts } = await import('./bench/posts.mjs');
  const { measureTell } = await import('./bench/tell.mjs');
  const { measureFair } = await import('./bench/fair.mjs');
  const on = /** @type {import('./bench/ground.mjs').Ground} */ (ground);
  /** @type {Parameters<typeof import('./bench/report.mjs').rowsOf>[0]} */
  const results = {};
  if (kinds.includes('accept')) {
    say('  … Accept, no sender running');
    results.accept = await measureAccept(on, { rounds, warmMs, measureMs, onRound });
  }
  if (kinds.includes('store')) {
    say(`  … Store, ${stored} emails`);
    results.store = await measureStore(on, { rounds, emails: stored, onRound });
  }
  if (kinds.includes('drain')) {
    say(`  … Drain, ${emails} emails`);
    results.drain = await measureDrain(on, { rounds, emails, onRound });
  }
  if (kinds.includes('compose')) {
    say(`  … Compose, ${messages} messages`);
    results.compose = await measureCompose({ rounds, messages, onRound });
  }
  if (kinds.includes('memory')) {
    say(`  … Memory, ${long} emails`);
    results.memory = await measureMemory(on, { emails: long, onRound });
  }
  if (kinds.includes('due')) {
    say(`  … Due, ${long} emails of ${workspaces} workspaces in one second`);
    results.due = await measureDue(on, { emails: long, workspaces, onRound });
  }
  if (kinds.includes('backlog')) {
    say(`  … Backlog, alone and beside ${rows} emails that wait`);
    results.backlog = await measureBacklog(on, { rounds, warmMs, measureMs, emails, rows, onRound });
  }
  if (kinds.includes('latency')) {
    say(`  … Latency, idle and beside a backlog of ${emails}`);
    results.idle = await measureIdle(on, { rounds, emails: idle, onRound });
    results.lone = await measureLone(on, { rounds, emails: lone, backlog: emails, onRound });
  }
  if (kinds.includes('posts')) {
    say(`  … Posts, ${posts} events to one webhook`);
    results.posts = await measurePosts({ rounds, posts, onRound });
  }
  if (kinds.includes('tell')) {
    say(`  … Tell, ${tell} deliveries`);
    results.tell = await measureTell(on, { rounds, posts: tell, onRound });
  }
  if (kinds.includes('fair')) {
    say('  … Fair, 90 healthy webhooks alone and beside 10 others');
    results.fair = await measureFair(on, { rounds, seconds: fairSeconds, onRound });
  }
  return results;
}

/** @param {ReturnType<typeof readArguments>} given */
async function bench({ kinds, scale, json, asBuilt }) {
  await step('Packages', ensureInstalled, String);
  if (!asBuilt) await step('Build', build);
  // Not before the packages are there.
  const { Ground } = await import('./bench/ground.mjs');
  const { describeMachine } = await import('./bench/machine.mjs');
  const { markdown, rowsOf } = await import('./bench/report.mjs');
  const made = new Ground();
  ground = made;
  const longKinds = kinds.filter((kind) => LONG_KINDS.includes(kind));
  const limitMs = scale.limitMs + longKinds.length * LIMIT_OF_A_LONG_KIND_MS;
  setTimeout(() => void giveUp('The run took too long.', 1), limitMs).unref();
  await step('Ground', () => made.prepare());
  const machine = await describeMachine(made);
  const rows = rowsOf(await measure(kinds, scale));
  if (json !== undefined) writeFileSync(json, `${JSON.stringify({ machine, rows }, null, 2)}\n`);
  say(`\n${markdown(rows, machine)}\n`);
}

/** @type {Promise<never> | undefined} */
let leaving;

/** Takes everything away and ends; what fails because of that is of no interest any more. */
function giveUp(reason, code) {
  leaving ??= leave(reason, code);
  return leaving;
}

async function leave(reason, code) {
  say(reason);
  await ground?.clear();
  return process.exit(code);
}

async function main(values) {
  try {
    await bench(readArguments(values));
    await ground?.clear();
    say(`Took ${elapsed()}.`);
  } catch (error) {
    await giveUp(describeFault(error), 1);
  }
}

for (const signal of STOP_SIGNALS) process.once(signal, () => void giveUp('Stopping …', 130));
await runScript({ help: HELP, options: OPTIONS, work: main });
