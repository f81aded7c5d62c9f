import { setTimeout as sleep } from 'node:timers/promises';
import { drainPace, fill, loopPace } from './drain.mjs';
import { emailRequest, jsonRequest, load, loadForTime } from './http-load.mjs';
import { median } from './numbers.mjs';
import { sentMail } from './sent-mail.mjs';

const CONNECTIONS = 32;
const WARM_UP = { warmMs: 4_000, measureMs: 100 };
const DUE_IN_DAYS = 60;
const ROWS_PER_STATEMENT = 100_000;
/** How long the clock works on the backlog before Redis's memory is measured. */
const SETTLED_AFTER_MS = 5_000;

/** @typedef {{ accept: number, drain: number }} Paces each in relation to the yardstick of its round */
/** @typedef {{ rows: number, accept: number, drain: number, alone: Paces[], beside: Paces[], redisBytes: [number, number] }} BacklogResult */

/**
 * Measures accepting and sending alone, and then beside very many emails that wait for their time: what they are then to what they were, as
 * medians; and what Redis keeps before and after.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, warmMs: number, measureMs: number, emails: number, rows: number, onRound: (text: string) => void }} options
 * @returns {Promise<BacklogResult>}
 */
export async function measureBacklog(ground, { rows, ...options }) {
  await ground.sweep();
  await ground.signWith([]);
  const bench = await openBench(ground, options);
  const alone = await bench.rounds('alone');
  const before = await ground.redisBytes();
  await pileUp(ground, bench.port, rows);
  const beside = await bench.rounds(`beside ${rows}`);
  await bench.close();
  const ratio = (what) =>
    median(beside.map((round) => round[what])) / median(alone.map((round) => round[what]));
  const after = await settledRedis(ground);
  return { rows, accept: ratio('accept'), drain: ratio('drain'), alone, beside, redisBytes: [before, after] };
}

/** The gateway and the echo, warmed up, with a function that measures both ways once. */
async function openBench(ground, { rounds, warmMs, measureMs, emails, onRound }) {
  const gateway = await ground.startApp('gateway');
  const echo = await ground.startHelper(new URL('./echo-process.mjs', import.meta.url));
  const echoPort = await echo.ask('listen');
  const [{ key }] = ground.workspaces;
  const pace = async (port, times) => {
    const request = emailRequest(port, key, sentMail('now@example.net'));
    return (await loadForTime({ port, connections: CONNECTIONS, next: () => request, ...times })).perSecond;
  };
  for (const port of [echoPort, gateway.port]) await pace(port, WARM_UP);
  const round = async () => {
    const times = { warmMs, measureMs };
    const accept = (await pace(gateway.port, times)) / (await pace(echoPort, times));
    // Emails accepted before must not be sent with those to be drained.
    await ground.query("DELETE FROM outbox WHERE state = 'ready'");
    return { accept, drain: await drainRatio(ground, gateway.port, emails) };
  };
  const all = async (name) => {
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
  return { port: gateway.port, rounds: all, close };
}

async function drainRatio(ground, port, emails) {
  const loop = await loopPace(ground, emails);
  await ground.sink.ask('reset');
  await fill(ground, port, emails);
  return (await drainPace(ground, emails, 0)) / loop;
}

/** Has one email accepted that is due in some weeks, and duplicates it. */
async function pileUp(ground, port, rows) {
  const sendAt = new Date(Date.now() + DUE_IN_DAYS * 24 * 60 * 60_000).toISOString();
  const [{ key }] = ground.workspaces;
  const requests = [jsonRequest(port, key, '/v1/emails', { ...sentMail('later@example.net'), sendAt })];
  await load({ port, connections: 1, next: () => requests.pop() });
  const copies = await Promise.all([
    copyOf(ground, 'emails', 'id'),
    copyOf(ground, 'email_contents', 'email_id'),
    copyOf(ground, 'outbox', 'subject_id'),
  ]);
  for (let made = 1; made < rows; made += ROWS_PER_STATEMENT) {
    await ground.query(
      `WITH email AS MATERIALIZED (SELECT subject_id AS id FROM outbox WHERE state = 'waiting' LIMIT 1),
       made AS MATERIALIZED (SELECT new_uuid_v7(now()) AS id FROM generate_series(1, $1::int)),
       ${copies.map((copy, number) => `copy_${number} AS (${copy})`).join(', ')}
       SELECT`,
      [Math.min(ROWS_PER_STATEMENT, rows - made)],
    );
  }
  await ground.query('VACUUM ANALYZE outbox, emails, email_contents');
  await ground.query('CHECKPOINT');
}

/** A statement that copies the row of `email` once for each id of `made`. */
async function copyOf(ground, table, key) {
  const columns = await ground.query(
    `SELECT column_name AS name FROM information_schema.columns WHERE table_schema = 'public' AND table_name = $1 AND column_name <> $2`,
    [table, key],
  );
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  return `INSERT INTO ${table} (${key}, ${names}) SELECT m.id, c.* FROM made m,
          (SELECT ${names} FROM ${table} WHERE ${key} = (SELECT id FROM email)) c`;
}

/** The memory of Redis once the clock has processed the backlog and nothing is due. */
async function settledRedis(ground) {
  const scheduler = await ground.startApp('scheduler');
  await sleep(SETTLED_AFTER_MS);
  await scheduler.stop();
  return ground.redisBytes();
}
