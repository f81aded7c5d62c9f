import { uuidOf } from '@posthorn/kernel';
import { waitUntil } from '../stack/processes.mjs';
import { EVENT, payload, TOKEN } from './bare-post.mjs';
import { post } from './http-load.mjs';

/** What WEBHOOK_CONNECTIONS is when nobody sets it. */
const DEFAULT_CONNECTIONS = 100;
const WEBHOOKS = 4;
const TOLD_WITHIN_MS = 90_000;
const RECORDED_WITHIN_MS = 10_000;
/** This share of the POSTs is for the compiler, on both sides. */
const WARM_UP_SHARE = 0.25;

/** @typedef {{ ratio: number, dispatcher: number, loop: number, statements: number }} TellRound POSTs/s that arrive; SQL statements a POST */

/**
 * Measures how soon waiting events have been posted and recorded, beside a loop of `undici.request` with the same bytes, both
 * signatures, as many connections and the same receiver.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, posts: number, onRound: (text: string) => void }} options
 * @returns {Promise<TellRound[]>}
 */
export async function measureTell(ground, { rounds, posts, onRound }) {
  const receiver = await ground.startHelper(new URL('./receiver-process.mjs', import.meta.url));
  const port = await receiver.ask('listen');
  const gateway = await ground.startApp('gateway');
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    const loop = await loopPace(ground, receiver, port, posts);
    await ground.sweep();
    await fill(ground, gateway.port, port, posts / WEBHOOKS);
    const { pace: dispatcher, statements } = await dispatcherPace(ground, receiver, posts);
    const ratio = dispatcher / loop;
    results.push({ ratio, dispatcher, loop, statements });
    onRound(
      `round ${round}: ${Math.round(dispatcher)}/s to ${Math.round(loop)}/s = ${ratio.toFixed(2)}; ${statements.toFixed(3)} statements a POST`,
    );
  }
  await Promise.all([gateway.stop(), receiver.stop()]);
  return results;
}

/** Creates a webhook for contacts that are created; says its id. */
export async function createWebhook(port, key, url) {
  const { webhook } = await post(port, key, '/v1/webhooks', { url, events: [EVENT], token: TOKEN });
  return webhook.id;
}

/** Events of the first workspace as whatever causes them records them, each for all of its webhooks. */
async function fill(ground, port, receiverPort, events) {
  const { id, editorKey } = ground.workspaces[0];
  for (let n = 1; n <= WEBHOOKS; n += 1)
    await createWebhook(port, editorKey, `http://127.0.0.1:${receiverPort}/hook/${n}`);
  const [head, tail] = payload('|').split('"|"');
  await ground.query(
    `WITH event AS MATERIALIZED (
       SELECT new_uuid_v7(now()) AS id, n FROM generate_series(1, $3) AS n
     ), due AS (
       INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) SELECT id, 'event', $2, 'ready', now() FROM event
     )
     INSERT INTO events (id, workspace_id, type, payload, webhook_ids, created_at)
     SELECT id, $1, '${EVENT}', $4 || n || $5, ARRAY(SELECT w.id FROM webhooks w ORDER BY 1), now()
     FROM   event`,
    [uuidOf(id), `${id}.events`, events, head, tail],
  );
}

async function loopPace(ground, receiver, port, count) {
  await receiver.ask('reset');
  const poster = await ground.startHelper(new URL('./post-process.mjs', import.meta.url));
  const atOnce = Number(process.env.WEBHOOK_CONNECTIONS ?? DEFAULT_CONNECTIONS);
  await poster.ask('open', { port, atOnce });
  await poster.ask('bare', { count });
  await poster.stop();
  return paceAtReceiver(receiver, count);
}

async function dispatcherPace(ground, receiver, count) {
  await receiver.ask('reset');
  await ground.query('SELECT pg_stat_statements_reset()');
  const apps = await Promise.all([ground.startApp('webhook-dispatcher'), ground.startApp('scheduler')]);
  const isThere = async () => (await receiver.ask('count')) >= count;
  const isRecorded = async () => (await unrecorded(ground, count)) === '';
  try {
    await waitUntil(isThere, { withinMs: TOLD_WITHIN_MS, what: `Posting ${count} deliveries` });
    await waitUntil(isRecorded, { withinMs: RECORDED_WITHIN_MS, what: 'Recording what was posted' });
  } catch (error) {
    const arrived = await receiver.ask('count');
    throw new Error(`${error.message}; ${arrived} arrived, ${await unrecorded(ground, count)}`);
  }
  await Promise.all(apps.map((app) => app.stop()));
  return {
    pace: await paceAtReceiver(receiver, count),
    statements: (await ground.countStatements()) / count,
  };
}

/** What is not recorded, for people; empty when all is. */
async function unrecorded(ground, count) {
  const [row] = await ground.query(
    `SELECT (SELECT count(*)::int FROM outbox) AS due,
            (SELECT count(*)::int FROM webhook_deliveries d
             WHERE  status = 'SUCCEEDED' AND EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = d.id)) AS recorded`,
  );
  return row.due === 0 && row.recorded === count
    ? ''
    : `${row.recorded} are recorded, ${row.due} rows are due`;
}

/** @throws when not every delivery came exactly once: a quick wrong answer is none */
async function paceAtReceiver(receiver, posts) {
  const warmUp = Math.floor(posts * WARM_UP_SHARE);
  const { count, deliveries, ms } = await receiver.ask('report', { warmUp });
  if (count !== posts || deliveries !== posts)
    throw new Error(`${count} POSTs of ${deliveries} deliveries arrived instead of ${posts}, one of each`);
  return ((posts - 1 - warmUp) / ms) * 1_000;
}
