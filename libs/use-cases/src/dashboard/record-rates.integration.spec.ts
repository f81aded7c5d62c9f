import { beforeEach, describe, expect, it } from '@jest/globals';
import { RateStore } from '@posthorn/database';
import { emailOutcomes, transmissionDuration, webhookAttempts } from '@posthorn/platform';
import { sleep } from '@posthorn/kernel';
import { RecordRates } from './record-rates.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const database = await openTestDatabase();
const rates = new RateStore(database);

beforeEach(async () => {
  emailOutcomes.reset();
  webhookAttempts.reset();
  transmissionDuration.reset();
  await database.pool.query('TRUNCATE rate_minutes, relay_views');
});

const fail = (error: unknown): never => {
  throw error;
};

/** The recorded total of a kind, over all minutes. */
async function recorded(what: string, label: string): Promise<number> {
  const found = (await rates.lastHour()).filter((rate) => rate.what === what && rate.label === label);
  return found.reduce((sum, { count }) => sum + count, 0);
}

describe('The counts of a process', () => {
  it('are recorded for each minute once, and again only when there is more', async () => {
    const recording = new RecordRates({ rates, everyMs: 20, onError: fail });
    emailOutcomes.inc({ outcome: 'sent' }, 3);
    webhookAttempts.inc({ result: 'timeout' });
    while ((await recorded('email', 'sent')) < 3 || (await recorded('webhook', 'timeout')) < 1)
      await sleep(20);
    emailOutcomes.inc({ outcome: 'sent' }, 2);
    await recording.close();
    expect([await recorded('email', 'sent'), await recorded('webhook', 'timeout')]).toEqual([5, 1]);
    expect((await rates.lastHour()).length).toBeLessThanOrEqual(4);
  });

  it('include how long each relay took, every email in one bucket', async () => {
    for (const seconds of [0.003, 0.02, 0.02]) transmissionDuration.observe({ relay: 'a:25' }, seconds);
    transmissionDuration.observe({ relay: 'b:25' }, 1_000);
    await new RecordRates({ rates, onError: fail }).close();
    const labels = ['0.005 a:25', '0.01 a:25', '0.025 a:25', '0.05 a:25', '300 b:25', '+Inf b:25'];
    const counts = await Promise.all(labels.map((label) => recorded('transmission', label)));
    expect(counts).toEqual([1, 0, 2, 0, 0, 1]);
  });

  it('are added to those of others, also concurrently', async () => {
    const one = [
      { what: 'reply', label: 'sent', count: 1 },
      { what: 'email', label: 'sent', count: 2 },
    ];
    await Promise.all(Array.from({ length: 20 }, (_, n) => rates.add(n % 2 ? one : one.toReversed())));
    expect([await recorded('email', 'sent'), await recorded('reply', 'sent')]).toEqual([40, 20]);
  });

  it('are kept while the database is unavailable, and recorded when it is back', async () => {
    let isAway = true;
    const faults: unknown[] = [];
    const away = {
      add: (some: Parameters<RateStore['add']>[0]) =>
        isAway ? Promise.reject(new Error('away')) : rates.add(some),
      noteRelays: () => Promise.resolve(),
    };
    emailOutcomes.inc({ outcome: 'bounced' }, 4);
    const recording = new RecordRates({ rates: away, everyMs: 10, onError: (error) => faults.push(error) });
    while (faults.length === 0) await sleep(5);
    isAway = false;
    await recording.close();
    expect(await recorded('email', 'bounced')).toBe(4);
  });

  it('are deleted after a day', async () => {
    await database.pool.query(
      `INSERT INTO rate_minutes VALUES (now() - interval '25 hours', 'email', 'sent', 1)`,
    );
    await rates.add([{ what: 'email', label: 'sent', count: 1 }]);
    const { rows } = await database.pool.query('SELECT FROM rate_minutes');
    expect(rows).toHaveLength(1);
  });
});

describe('The recorded state of relays', () => {
  it('is what the current senders report, each for itself', async () => {
    const relays = () => [{ relay: 'one.example:25', isUp: true }];
    await new RecordRates({ rates, relays, onError: fail }).close();
    const reason = 'auth: 535 Sorry,\r\n\0no';
    await rates.noteRelays('other:1', [{ relay: 'one.example:25', isUp: false, reason }]);
    await rates.noteRelays('gone:1', [{ relay: 'two.example:25', isUp: true }]);
    await database.pool.query(
      `UPDATE relay_views SET seen_at = now() - interval '2 minutes' WHERE observer = 'gone:1'`,
    );
    const seen = { relay: 'one.example:25', senders: 2, up: 1, reason: 'auth: 535 Sorry, no' };
    expect(await rates.relays()).toMatchObject([seen]);
    await rates.noteRelays('other:1', relays());
    expect(await rates.relays()).toMatchObject([{ ...seen, up: 2, reason: null }]);
  });
});
