import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { FaultProxy } from './fault-proxy.ts';
import { createTestDatabase, PrivatePostgres, type TestDatabase } from './postgres.ts';
import { PrivateRedis } from './redis.ts';
import { stackModule } from './stack.ts';

const { query } = await stackModule('postgres');
const { askRedis } = await stackModule('redis');

describe('A test database', () => {
  it('has every migration, and no longer exists after it was dropped', async () => {
    const database = await createTestDatabase();
    const tables = await query(database.url, `SELECT tablename FROM pg_tables WHERE schemaname = 'public'`);
    await database.drop();

    expect(tables.map((row) => row.tablename)).toContain('_prisma_migrations');
    await expect(query(database.url, 'SELECT 1')).rejects.toThrow('does not exist');
  });

  it('is separate from every other one', async () => {
    const [one, other] = await Promise.all([createTestDatabase(), createTestDatabase()]);
    await query(one.url, 'CREATE TABLE mine ()');

    await expect(query(other.url, 'SELECT * FROM mine')).rejects.toThrow('does not exist');
    await Promise.all([one.drop(), other.drop()]);
  });
});

describe('A private Redis', () => {
  let redis: PrivateRedis;
  beforeAll(async () => (redis = await PrivateRedis.start()));
  afterAll(() => redis.close());

  it('refuses connections while it is stopped, and restarts at the same address', async () => {
    await redis.stop();
    await expect(askRedis(redis.port, 'PING')).rejects.toThrow('ECONNREFUSED');
    await redis.restart();
    expect(await redis.ask('PING')).toBe('+PONG\r\n');
  });

  it('does not answer while it is frozen', async () => {
    redis.freeze();
    await expect(askRedis(redis.port, 'PING', { withinMs: 200 })).rejects.toThrow('did not answer');
    redis.thaw();
    expect(await redis.ask('PING')).toBe('+PONG\r\n');
  });

  it('loses all data when it is flushed', async () => {
    await redis.ask('SET a 1');
    await redis.flush();
    expect(await redis.ask('GET a')).toBe('$-1\r\n');
  });
});

describe('A private Postgres', () => {
  it('keeps committed data across a stop and across a crash', async () => {
    const postgres = await PrivatePostgres.start();
    await query(postgres.url, 'CREATE TABLE kept ()');
    await postgres.stop();
    await expect(query(postgres.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await postgres.restart();
    await postgres.crash();
    await postgres.restart();

    expect(await query(postgres.url, 'SELECT * FROM kept')).toEqual([]);
    await postgres.close();
  });
});

describe('A fault proxy', () => {
  let database: TestDatabase;
  let proxy: FaultProxy;
  let url: string;
  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await FaultProxy.before(database.url);
    url = proxy.urlFor(database.url);
    await query(url, 'CREATE TABLE facts (fact text)');
  });
  afterAll(async () => {
    await proxy.close();
    await database.drop();
  });
  const sleepers = async (): Promise<number> => {
    const sql = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`;
    return (await query(database.url, sql)).length;
  };
  const facts = async () => (await query(database.url, 'SELECT fact FROM facts')).map((row) => row.fact);

  it('cuts after the server has received the statement: it is executed, and its answer is lost', async () => {
    const cut = proxy.cutAfter('INSERT INTO facts');
    await expect(query(url, `INSERT INTO facts VALUES ('heard')`)).rejects.toThrow();
    await cut;
    expect(await facts()).toEqual(['heard']);
    await expect(query(url, 'SELECT 1')).resolves.toHaveLength(1);
  });

  it('cuts before the server receives the statement: it is not executed', async () => {
    void proxy.cutBefore('unheard');
    await expect(query(url, `INSERT INTO facts VALUES ('unheard')`)).rejects.toThrow();
    expect(await facts()).not.toContain('unheard');
  });

  it('refuses connections, and accepts them again at the same port once healed', async () => {
    await proxy.refuse();
    await expect(query(url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
    await proxy.heal();
    await expect(query(url, 'SELECT 1')).resolves.toHaveLength(1);
  });

  it('forwards nothing while it is frozen, and goes on when it is healed', async () => {
    proxy.freeze();
    let answered = false;
    const asked = query(url, 'SELECT 1').then(() => (answered = true));
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(answered).toBe(false);
    await proxy.heal();
    await asked;
    expect(answered).toBe(true);
  });

  it('resets every open connection', async () => {
    const asked = expect(query(url, 'SELECT pg_sleep(60)')).rejects.toThrow();
    // Counting connections is not enough: one of the previous test may still be open for a moment.
    while ((await sleepers()) === 0) await sleep(5);
    proxy.cutAll();
    await asked;
    expect(proxy.connections).toBe(0);
  });
});
