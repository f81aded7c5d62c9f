import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { PoolClient } from 'pg';
import { type Database, openDatabase } from '@posthorn/database';
import { type AppUnderTest, PrivatePostgres, PrivateRedis } from '@posthorn/testing';
import { newRecipient, validEmail, Stack, until } from '../e2e/stack.ts';

/** Fewer connections than the apps and their test could use together. */
const CONNECTIONS = 60;

describe('While Postgres or Redis answers but does not execute what it is asked', () => {
  let postgres: PrivatePostgres;
  let redis: PrivateRedis;
  let apps: AppUnderTest[];
  /** Statements of the operator of the database, who may always write. */
  let operator: Database;
  let held: PoolClient[] = [];

  afterAll(() => {
    letGo();
    return operator.close();
  });
  const stack = Stack.forTests(async () => {
    [postgres, redis] = await Promise.all([
      PrivatePostgres.start({ connections: CONNECTIONS }),
      PrivateRedis.start(),
    ]);
    const url = new URL(postgres.url);
    url.searchParams.set('options', '-c default_transaction_read_only=off');
    operator = openDatabase({ url: url.href, poolSize: CONNECTIONS, applicationName: 'operator' });
    return { databaseUrl: postgres.url, redisUrl: redis.url, dispatchers: 1 };
  });
  beforeAll(() => {
    apps = [...stack.gateways, stack.sender, stack.scheduler, ...stack.dispatchers];
  });
  afterAll(() => Promise.all([postgres.close(), redis.close()]));

  /** Takes all connections, also those of the apps, however often these connect again meanwhile. */
  async function holdConnections(): Promise<void> {
    held.push(await operator.pool.connect());
    await until(async () => {
      await held[0]!.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'posthorn-%'`,
      );
      for (let isLeft = true; isLeft && held.length < CONNECTIONS;)
        isLeft = await operator.pool.connect().then(
          (client) => held.push(client) > 0,
          () => false,
        );
      return held.length === CONNECTIONS;
    }, 'all connections are taken');
  }

  function letGo(): void {
    for (const client of held) client.release(true);
    held = [];
  }

  const newEmail = () => ({ ...validEmail(), to: newRecipient(), idempotencyKey: randomUUID() });

  async function makeReadOnly(isReadOnly: boolean): Promise<void> {
    await operator.pool.query(
      `ALTER SYSTEM SET default_transaction_read_only = ${isReadOnly ? 'on' : 'off'}`,
    );
    await operator.pool.query('SELECT pg_reload_conf()');
  }

  it.each([
    {
      what: 'Postgres accepts no writes',
      begin: () => makeReadOnly(true),
      end: () => makeReadOnly(false),
      status: 503,
      says: 'in a read-only transaction',
    },
    {
      what: 'Postgres has no connection left',
      begin: holdConnections,
      end: letGo,
      status: 503,
      says: 'too many clients already',
    },
    {
      what: 'Redis has no memory left',
      begin: () => redis.ask('CONFIG SET maxmemory 1'),
      end: () => redis.ask('CONFIG SET maxmemory 0'),
      status: 200,
      says: 'OOM command not allowed',
    },
    {
      what: 'Redis is a replica',
      begin: () => redis.ask('REPLICAOF 127.0.0.1 1'),
      end: () => redis.ask('REPLICAOF NO ONE'),
      status: 200,
      says: 'READONLY',
    },
  ])(
    '$what: callers get $status, operators see the reason, and everything goes on without intervention',
    async (outage) => {
      let email = newEmail();
      const send = async (): Promise<number> => (await stack.api().post('/v1/emails', email)).status;
      await outage.begin();
      // A setting reaches the sessions that are open a moment later: what is accepted until then is of no interest.
      await until(async () => {
        email = newEmail();
        return (await send()) === outage.status;
      }, `the answer is ${outage.status}`);
      await until(() => stack.gateways[0]!.program.output.includes(outage.says), 'the gateway says why');
      expect(stack.mailsTo(email.to)).toEqual([]);

      await outage.end();
      await until(async () => (await send()) === 200, 'it is accepted');
      await stack.onlyMailTo(email.to);
      expect(apps.filter(({ program }) => program.hasEnded)).toEqual([]);
      expect(stack.logs).not.toContain('a request failed');
    },
  );
});
