import { uuidOf } from '@posthorn/kernel';
import { waitUntil } from '../stack/processes.mjs';
import { EVENT, payload, TOKEN } from './bare-post.mjs';
import { post } from './http-load.mjs';

/** The default of WEBHOOK_CONNECTIONS. */
const DEFAULT_CONNECTIONS = 100;
const WEBHOOKS = 4;
const DELIVERED_WITHIN_MS = 90_000;
const RECORDED_WITHIN_MS = 10_000;

/** @typedef {{ ratio: number, dispatcher: number, loop: number, statements: number }} TellRound POSTs/s that arrive; SQL statements per POST */

/**
 * Measures how fast waiting events are posted to webhooks and recorded, against a loop of `undici.request` with the same bytes, both
 * signatures, as many connections and the same receiver.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, posts: number, onRound: (text: string) => void }} options
 * @returns {Promise<TellRound[]>}
 */
export async function measureTell(environment, { rounds, posts, onRound }) {
  const receiver = await environment.startBenchProcess(new URL('./receiver-process.mjs', import.meta.url));
  const port = await receiver.ask('listen');
  const gateway = await environment.startApp('gateway');
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    const loop = await loopPace(environment, receiver, port, posts);
    await environment.reset();
    await fill(environment, gateway.port, port, posts / WEBHOOKS);
    const { pace: dispatcher, statements } = await dispatcherPace(environment, receiver, posts);
    const ratio = dispatcher / loop;
    results.push({ ratio, dispatcher, loop, statements });
    onRound(
      `round ${round}: ${Math.round(dispatcher)}/s to ${Math.round(loop)}/s = ${ratio.toFixed(2)}; ${statements.toFixed(3)} statements per POST`,
    );
  }
  await Promise.all([gateway.stop(), receiver.stop()]);
  return results;
}

/** Creates a webhook for EVENT; returns its id. */
export async function createWebhook(port, key, url) {
  const { webhook } = await post(port, key, '/v1/webhooks', { url, events: [EVENT], token: TOKEN });
  return webhook.id;
}

/** Creates events of the first workspace, as the app that causes them records them, each for all of its webhooks. */
async function fill(environment, port, receiverPort, events) {
  const { id, editorKey } = environment.workspaces[0];
  for (let n = 1; n <= WEBHOOKS; n += 1)
    await createWebhook(port, editorKey, `http://127.0.0.1:${receiverPort}/hook/${n}`);
  const [head, tail] = payload('|').split('"|"');
  await environment.query(
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

async function loopPace(environment, receiver, port, count) {
  await receiver.ask('reset');
  const poster = await environment.startBenchProcess(new URL('./post-process.mjs', import.meta.url));
  const concurrency = Number(process.env.WEBHOOK_CONNECTIONS ?? DEFAULT_CONNECTIONS);
  await poster.ask('open', { port, concurrency });
  await poster.ask('bare', { count });
  await poster.stop();
  return paceAtReceiver(receiver, count);
}

async function dispatcherPace(environment, receiver, count) {
  await receiver.ask('reset');
  await environment.query('SELECT pg_stat_statements_reset()');
  const apps = await Promise.all([
    environment.startApp('webhook-dispatcher'),
    environment.startApp('scheduler'),
  ]);
  const isThere = async () => (await receiver.ask('count')) >= count;
  const isRecorded = async () => (await unrecorded(environment, count)) === '';
  try {
    await waitUntil(isThere, { withinMs: DELIVERED_WITHIN_MS, what: `Posting ${count} deliveries` });
    await waitUntil(isRecorded, { withinMs: RECORDED_WITHIN_MS, what: 'Recording what was posted' });
  } catch (error) {
    const arrived = await receiver.ask('count');
    throw new Error(`${error.message}; ${arrived} arrived, ${await unrecorded(environment, count)}`);
  }
  await Promise.all(apps.map((app) => app.stop()));
  return {
    pace: await paceAtReceiver(receiver, count),
    statements: (await environment.countStatements()) / count,
  };
}

/** Describes what is not recorded yet; empty when everything is. */
async function unrecorded(environment, count) {
  const [row] = await environment.query(
    `SELECT (SELECT count(*)::int FROM outbox) AS due,
            (SELECT count(*)::int FROM webhook_deliveries d
             WHERE  status = 'SUCCEEDED' AND EXISTS (SELECT FROM webhook_attempts a WHERE a.delivery_id = d.id)) AS recorded`,
  );
  return row.due === 0 && row.recorded === count
    ? ''
    : `${row.recorded} are recorded, ${row.due} rows are due`;
}

/** @throws when not every delivery arrived exactly once: a fast result that is wrong does not count */
async function paceAtReceiver(receiver, posts) {
  const { count, deliveries, perSecond } = await receiver.ask('report');
  if (count !== posts || deliveries !== posts)
    throw new Error(`${count} POSTs of ${deliveries} deliveries arrived instead of ${posts}, one of each`);
  return perSecond;
}
