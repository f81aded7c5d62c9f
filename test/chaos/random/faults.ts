import { setTimeout as sleep } from 'node:timers/promises';
import { COMMIT_SENT, type FaultProxy } from '@posthorn/testing';
import type { Stack } from '../../e2e/stack.ts';
import type { Cluster } from './cluster.ts';
import type { Random } from './random.ts';

/** Something fails, and is well again when the promise resolves. */
type Fault = (cluster: Cluster, random: Random) => Promise<void>;

const END_OF_MAIL = '\r\n.\r\n';
/** How long a cut waits for the bytes after which it happens. */
const CUT_WITHIN_MS = 3_000;

const TABLES = [
  ...['contacts', 'email_contents', 'email_events', 'emails', 'events', 'idempotency_keys', 'outbox'],
  ...['usage', 'webhook_attempts', 'webhook_deliveries', 'webhooks', 'workspaces'],
];

/** The tables that have a partition for each month. */
export const PARTITIONED = [
  ...['email_contents', 'email_engagements', 'email_events', 'emails'],
  ...['events', 'webhook_attempts', 'webhook_deliveries'],
];

const APP_FAULTS: Record<string, Fault> = {
  'an app is killed': async ({ places }, random) => {
    const place = random.pick(places);
    await place.kill();
    await sleep(random.between(0, 3_000));
    await place.restart();
  },
  'a sender is killed while the relay does not answer': async ({ places, stack: { sink } }, random) => {
    const { script } = sink;
    const isOver = Promise.withResolvers<void>();
    sink.script = (stage, context) =>
      stage === 'content' ? { after: isOver.promise } : script(stage, context);
    await sleep(random.between(300, 3_000));
    const place = random.pick(places.filter(({ name }) => name === 'sender'));
    await place.kill();
    sink.script = script;
    isOver.resolve();
    await sleep(random.between(0, 3_000));
    await place.restart();
  },
  'an app is stopped': async ({ places }, random) => {
    const place = random.pick(places);
    const { code, signal } = await place.stop();
    if (code !== 0) throw new Error(`${place.name} ended with ${code ?? signal} after SIGTERM`);
    await place.restart();
  },
  'an app is frozen': async ({ places }, random) => {
    const { program } = random.pick(places).app;
    program.kill('SIGSTOP');
    await sleep(random.between(1_000, 12_000));
    program.kill('SIGCONT');
  },
};

const POSTGRES_FAULTS: Record<string, Fault> = {
  'Postgres is restarted': async ({ postgres }, random) => {
    await postgres.stop();
    await sleep(random.between(0, 3_000));
    await postgres.restart();
  },
  'Postgres crashes': async ({ postgres }) => {
    await postgres.crash();
    await postgres.restart();
  },
  'half of the sessions are terminated': ({ stack }) =>
    attempt(
      stack,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE  datname = current_database() AND pid <> pg_backend_pid() AND random() < 0.5`,
    ),
  'statements are cancelled': ({ stack }) =>
    attempt(
      stack,
      `SELECT pg_cancel_backend(pid) FROM pg_stat_activity
       WHERE  datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'`,
    ),
  'a table is locked': ({ stack }, random) => {
    const mode = random.pick(['ACCESS EXCLUSIVE', 'EXCLUSIVE', 'SHARE']);
    return holdLocks(stack, `LOCK TABLE ${random.pick(TABLES)} IN ${mode} MODE`, random.between(1, 8));
  },
  'a month to come is missing': ({ stack }, random) =>
    attempt(stack, `DROP TABLE IF EXISTS ${random.pick(PARTITIONED)}_${monthAhead(random.between(1, 3))}`),
  'rows are locked': ({ stack }, random) => {
    const table = random.pick(['contacts', 'emails', 'outbox', 'usage', 'webhooks', 'workspaces']);
    return holdLocks(
      stack,
      `SELECT FROM ${table} ORDER BY random() LIMIT 50 FOR UPDATE`,
      random.between(1, 8),
    );
  },
};

const REDIS_FAULTS: Record<string, Fault> = {
  'Redis is emptied': ({ redis }) => redis.flush(),
  'Redis is restarted': ({ redis }) => redis.restart(),
  'Redis forgets its scripts': async ({ redis }) => {
    await redis.ask('SCRIPT FLUSH');
  },
  'Redis is frozen': async ({ redis }, random) => {
    redis.freeze();
    await sleep(random.between(500, 10_000));
    redis.thaw();
  },
  'Redis is full': async ({ redis }, random) => {
    await redis.ask('CONFIG SET maxmemory 1');
    await sleep(random.between(500, 6_000));
    await redis.ask('CONFIG SET maxmemory 0');
  },
  'Redis is a replica': async ({ redis }, random) => {
    await redis.ask('REPLICAOF 127.0.0.1 1');
    await sleep(random.between(500, 6_000));
    await redis.ask('REPLICAOF NO ONE');
  },
};

const NETWORK_FAULTS: Record<string, Fault> = {
  'connections are reset': (cluster, random) => Promise.resolve(anyWay(cluster, random).cutAll()),
  'connections are refused': async (cluster, random) => {
    const way = anyWay(cluster, random);
    await way.refuse();
    await sleep(random.between(300, 4_000));
    await way.heal();
  },
  'nothing is forwarded, or only in one direction': async (cluster, random) => {
    const way = anyWay(cluster, random);
    way.freeze(random.pick(['requests', 'answers', 'both']));
    await sleep(random.between(500, 12_000));
    await way.heal();
  },
  'open connections are forgotten': async ({ databaseWays }, random) => {
    const way = random.pick(databaseWays);
    way.freezeOpenConnections();
    await sleep(random.between(3_000, 15_000));
    way.cutAll();
    await way.heal();
  },
  'the answer to a COMMIT is lost': ({ databaseWays }, random) =>
    cut(random.pick(databaseWays), (way) => way.cutAfter(COMMIT_SENT)),
  'a COMMIT is lost': ({ databaseWays }, random) =>
    cut(random.pick(databaseWays), (way) => way.cutBefore(COMMIT_SENT)),
  'the answer to a mail is lost': ({ relay }) => cut(relay, (way) => way.cutAfter(END_OF_MAIL)),
};

/** What can fail, by what it fails in: one fault at a time in each. */
export const FAULTS: Record<string, Record<string, Fault>> = {
  apps: APP_FAULTS,
  Postgres: POSTGRES_FAULTS,
  Redis: REDIS_FAULTS,
  network: NETWORK_FAULTS,
};

function anyWay({ databaseWays, redisWay, relay }: Cluster, random: Random): FaultProxy {
  return random.pick([...databaseWays, redisWay, relay]);
}

async function cut(way: FaultProxy, plan: (way: FaultProxy) => Promise<void>): Promise<void> {
  await Promise.race([plan(way), sleep(CUT_WITHIN_MS)]);
  await way.heal();
}

/** Statements that are sent together are one transaction. */
function holdLocks(stack: Stack, lock: string, seconds: number): Promise<void> {
  const withoutLimits = 'SET LOCAL lock_timeout = 0; SET LOCAL statement_timeout = 0';
  return attempt(stack, `${withoutLimits}; ${lock}; SELECT pg_sleep(${seconds})`);
}

/** A deadlock with an app may end it, and a connection of the test may have been lost in the fault before: then there is no fault this time. */
async function attempt({ database }: Stack, sql: string): Promise<void> {
  await database.pool.query(sql).catch(() => undefined);
}

/** The end of the name of a partition. */
export function monthAhead(months: number): string {
  const now = new Date();
  const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months));
  return month.toISOString().slice(0, 7).replace('-', '_');
}
