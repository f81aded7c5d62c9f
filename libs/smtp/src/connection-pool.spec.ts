import { describe, expect, it } from '@jest/globals';
import { ConnectionPool, type PooledConnection } from './connection-pool.ts';

class FakeConnection implements PooledConnection {
  isAlive = true;
  quits = 0;
  quit(): Promise<void> {
    this.isAlive = false;
    this.quits += 1;
    return Promise.resolve();
  }
}

const someTime = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('the connection pool', () => {
  it('grants slots in the order of requests', async () => {
    const pool = new ConnectionPool<FakeConnection>(1, 60_000);
    const slot = await pool.take();
    const served: string[] = [];
    const others = ['first', 'second'].map(async (name) => {
      const own = await pool.take();
      served.push(name);
      pool.give(own);
    });
    pool.give(slot);
    await Promise.all(others);
    expect(served).toEqual(['first', 'second']);
    await pool.drain();
  });

  it('prefers the most recently used connection', async () => {
    const pool = new ConnectionPool<FakeConnection>(2, 60_000);
    const [older, newer] = [await pool.take(), await pool.take()];
    older.connection = new FakeConnection();
    newer.connection = new FakeConnection();
    pool.give(older);
    pool.give(newer);
    expect((await pool.take()).connection).toBe(newer.connection);
    pool.give(newer);
    await pool.drain();
  });

  it('quits a connection that is idle for too long, and frees its slot', async () => {
    const pool = new ConnectionPool<FakeConnection>(1, 20);
    const slot = await pool.take();
    const connection = new FakeConnection();
    slot.connection = connection;
    pool.give(slot);
    while (connection.quits === 0) await someTime(5);
    expect(connection.quits).toBe(1);
    expect((await pool.take()).connection).toBeUndefined();
  });

  it('does not quit a connection that is in use again', async () => {
    const pool = new ConnectionPool<FakeConnection>(1, 20);
    const slot = await pool.take();
    const connection = new FakeConnection();
    slot.connection = connection;
    pool.give(slot);
    await pool.take();
    await someTime(60);
    expect(connection.quits).toBe(0);
    pool.give(slot);
    await pool.drain();
  });

  it('gives the slot of an idle connection back only when that is closed', async () => {
    const pool = new ConnectionPool<FakeConnection>(1, 20);
    const slot = await pool.take();
    const [begun, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const quit = (): Promise<void> => {
      begun.resolve();
      return closed.promise;
    };
    slot.connection = Object.assign(new FakeConnection(), { quit });
    pool.give(slot);
    await begun.promise;
    let granted = 0;
    const [first] = [pool.take(), pool.take()].map((taken) => taken.then(() => (granted += 1)));
    await someTime(5);
    expect(granted).toBe(0);
    closed.resolve();
    await first;
    await someTime(5);
    expect(granted).toBe(1);
  });

  it('quits of two idle connections only the one that was idle for longer', async () => {
    const pool = new ConnectionPool<FakeConnection>(2, 20);
    const [older, newer] = [await pool.take(), await pool.take()];
    const taken = Promise.withResolvers<unknown>();
    const quit = (): Promise<void> => {
      taken.resolve(pool.take());
      return Promise.resolve();
    };
    older.connection = Object.assign(new FakeConnection(), { quit });
    newer.connection = new FakeConnection();
    pool.give(older);
    await someTime(5);
    pool.give(newer);
    expect(await taken.promise).toBe(newer);
  });

  it('drains without waiting for slots that must not be used for a while', async () => {
    const pool = new ConnectionPool<FakeConnection>(1, 60_000);
    pool.cooldown(await pool.take(), 3_600_000);
    await pool.drain();
    expect(pool.coolingDownCount).toBe(0);
  });

  it('drains only when all granted and requested slots are released', async () => {
    const pool = new ConnectionPool<FakeConnection>(1, 60_000);
    const slot = await pool.take();
    slot.connection = new FakeConnection();
    const waiter = pool.take();
    let drained = false;
    const drain = pool.drain().then(() => (drained = true));
    pool.give(slot);
    await waiter;
    await someTime(5);
    expect(drained).toBe(false);
    pool.give(slot);
    await drain;
    expect(slot.connection.quits).toBe(1);
  });
});
