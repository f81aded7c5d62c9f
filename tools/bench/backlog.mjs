import { setTimeout as sleep } from 'node:timers/promises';
import { drainPace, fill, loopPace } from './drain.mjs';
import { emailRequest, load, loadForTime } from './http-load.mjs';
import { median } from './numbers.mjs';
import { sampleEmail } from './sample-email.mjs';

const CONNECTIONS = 32;
const WARM_UP = { warmMs: 4_000, measureMs: 100 };
const DUE_IN_DAYS = 60;
const ROWS_PER_STATEMENT = 100_000;
/** How long the clock works on the backlog before Redis's memory is measured. */
const SETTLED_AFTER_MS = 5_000;

/** @typedef {{ accept: number, drain: number }} Paces each relative to the baseline of its round */
/** @typedef {{ rows: number, accept: number, drain: number, without: Paces[], withBacklog: Paces[], redisBytes: [number, number] }} BacklogResult */

/**
 * Measures accepting and sending first without and then with very many scheduled emails: the ratios of the medians, and the size of the data
 * in Redis before and after.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, warmMs: number, measureMs: number, emails: number, rows: number, onRound: (text: string) => void }} options
 * @returns {Promise<BacklogResult>}
 */
export async function measureBacklog(environment, { rows, ...options }) {
  await environment.reset();
  await environment.signWith([]);
  const bench = await openBench(environment, options);
  const without = await bench.rounds('without backlog');
  const before = await environment.redisBytes();
  await createBacklog(environment, bench.port, rows);
  const withBacklog = await bench.rounds(`with ${rows} waiting`);
  await bench.close();
  const ratio = (what) =>
    median(withBacklog.map((round) => round[what])) / median(without.map((round) => round[what]));
  const after = await settledRedis(environment);
  return {
    rows,
    accept: ratio('accept'),
    drain: ratio('drain'),
    without,
    withBacklog,
    redisBytes: [before, after],
  };
}

/** Starts and warms up the gateway and the echo; `rounds` measures accepting and draining. */
async function openBench(environment, { rounds, warmMs, measureMs, emails, onRound }) {
  const gateway = await environment.startApp('gateway');
  const echo = await environment.startBenchProcess(new URL('./echo-process.mjs', import.meta.url));
  const echoPort = await echo.ask('listen');
  const [{ key }] = environment.workspaces;
  const pace = async (port, times) => {
    const request = emailRequest(port, key, sampleEmail('now@example.net'));
    return (await loadForTime({ port, connections: CONNECTIONS, next: () => request, ...times })).perSecond;
  };
  for (const port of [echoPort, gateway.port]) await pace(port, WARM_UP);
  const round = async () => {
    const times = { warmMs, measureMs };
    const accept = (await pace(gateway.port, times)) / (await pace(echoPort, times));
    // Emails accepted before must not be sent with those to be drained.
    await environment.query("DELETE FROM outbox WHERE state = 'ready'");
    return { accept, drain: await drainRatio(environment, gateway.port, emails) };
  };
  const measureRounds = async (name) => {
    const measured = [];
    for (let number = 1; number <= rounds; number += 1) {
      const { accept, drain } = await round();
      measured.push({ accept, drain });
      onRound(`round ${number}, ${name}: accept ${accept.toFixed(2)}, drain ${drain.toFixed(2)}`);
    }
    return measured;
  };
  const close = async () => {
    await gateway.stop();
    await echo.stop();
  };
  return { port: gateway.port, rounds: measureRounds, close };
}

async function drainRatio(environment, port, emails) {
  const loop = await loopPace(environment, emails);
  await environment.sink.ask('reset');
  await fill(environment, port, emails);
  return (await drainPace(environment, emails, 0)) / loop;
}

/** Has one email accepted that is due in some weeks, and copies its rows. */
async function createBacklog(environment, port, rows) {
  const sendAt = new Date(Date.now() + DUE_IN_DAYS * 24 * 60 * 60_000).toISOString();
  const [{ key }] = environment.workspaces;
  const requests = [emailRequest(port, key, { ...sampleEmail('later@example.net'), sendAt })];
  await load({ port, connections: 1, next: () => requests.pop() });
  const copies = await Promise.all([
    copyOf(environment, 'emails', 'id'),
    copyOf(environment, 'email_contents', 'email_id'),
    copyOf(environment, 'outbox', 'subject_id'),
  ]);
  for (let made = 1; made < rows; made += ROWS_PER_STATEMENT) {
    await environment.query(
      `WITH email AS MATERIALIZED (SELECT subject_id AS id FROM outbox WHERE state = 'waiting' LIMIT 1),
       made AS MATERIALIZED (SELECT new_uuid_v7(now()) AS id FROM generate_series(1, $1::int)),
       ${copies.map((copy, number) => `copy_${number} AS (${copy})`).join(', ')}
       SELECT`,
      [Math.min(ROWS_PER_STATEMENT, rows - made)],
    );
  }
  await environment.query('VACUUM ANALYZE outbox, emails, email_contents');
  await environment.query('CHECKPOINT');
}

/** A statement that copies the row of `email` once for each id of `made`. */
async function copyOf(environment, table, key) {
  const columns = await environment.query(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 AND column_name <> $2`,
    [table, key],
  );
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  return `INSERT INTO ${table} (${key}, ${names}) SELECT m.id, c.* FROM made m,
          (SELECT ${names} FROM ${table} WHERE ${key} = (SELECT id FROM email)) c`;
}

/** The memory of Redis once the clock has processed the backlog and nothing is due. */
async function settledRedis(environment) {
  const scheduler = await environment.startApp('scheduler');
  await sleep(SETTLED_AFTER_MS);
  await scheduler.stop();
  return environment.redisBytes();
}
