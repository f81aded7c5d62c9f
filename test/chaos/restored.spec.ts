import { afterEach, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EraStore } from '@posthorn/database';
import {
  PostgresTools,
  PrivatePostgres,
  PrivateRedis,
  ProgramUnderTest,
  type SinkMessage,
} from '@posthorn/testing';
import { emailIn } from '../e2e/api.ts';
import { newRecipient, Stack, until } from '../e2e/stack.ts';
import { seedEmails } from './seed.ts';

/** 100,000 by hand: `RESTORED_EMAILS=100000 npm test -- test/chaos/restored`. */
const EMAILS = Number(process.env['RESTORED_EMAILS'] ?? 5_000);
/** The time to send all of them, at 100 a second. */
const LONG_MS = 60_000 + EMAILS * 10;

const tools = PostgresTools.find();
const describeWithTools = tools === undefined ? describe.skip : describe;

/** Needs a Postgres of the machine's own, with pg_dump and pg_restore. */
describeWithTools('A system that is restored from a backup, beside an empty Redis', () => {
  const undo: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const action of undo.splice(0).reverse()) await action();
  });

  async function startPostgres(isEmpty: boolean): Promise<PrivatePostgres> {
    const postgres = await PrivatePostgres.start({ binaries: tools!.binaries, isEmpty });
    undo.push(() => postgres.close());
    return postgres;
  }

  async function startStack(databaseUrl: string): Promise<Stack> {
    const redis = await PrivateRedis.start();
    undo.push(() => redis.close());
    const stack = await Stack.start({ databaseUrl, redisUrl: redis.url });
    undo.push(() => stack.close());
    return stack;
  }

  /** Makes a number of the emails due now that are scheduled in months. */
  async function makeDue(stack: Stack, count: number): Promise<void> {
    await stack.database.pool.query(
      `UPDATE outbox SET due_at = now() WHERE subject_id IN (
         SELECT subject_id FROM outbox WHERE due_at > now() + interval '80 days' ORDER BY subject_id LIMIT $1::int)`,
      [count],
    );
  }

  it(
    'loses nothing and doubles nothing',
    async () => {
      const lost = await startPostgres(false);
      const before = await startStack(lost.url);
      const to = newRecipient();
      const sendAt = new Date(Date.now() + 85 * 86_400_000);
      const { workspaceId } = before.tenant;
      await seedEmails(before.database, { workspaceId, count: EMAILS, lane: 'bulk', to, sendAt });
      const [sentBefore, dueSince] = [EMAILS * 0.2, EMAILS * 0.3];
      await makeDue(before, sentBefore);
      await until(() => before.sink.count === sentBefore, 'what was due before the backup is sent', LONG_MS);
      await until(
        async () => (await before.count(`SELECT count(*) FROM outbox WHERE state = 'taken'`)) === 0,
        'and recorded',
      );

      // No row may become ready before the dump.
      before.scheduler.program.kill('SIGSTOP');
      await new EraStore(before.database).noteAlive();
      await makeDue(before, dueSince);
      const folder = await mkdtemp(join(tmpdir(), 'posthorn-backup-'));
      undo.push(() => rm(folder, { recursive: true, force: true }));
      const file = join(folder, 'posthorn.dump');
      await tools!.dump(lost.url, file);
      before.scheduler.program.kill('SIGCONT');
      await until(
        () => before.sink.count >= sentBefore + dueSince,
        'what fell due since the backup is sent',
        LONG_MS,
      );
      const stoppedAt = new Date();
      for (const app of [...before.gateways, before.sender, before.scheduler]) app.program.kill('SIGKILL');

      const restored = await startPostgres(true);
      await tools!.restore(file, restored.url);
      const after = await startStack(restored.url);
      const accepted = await after.send({ to: newRecipient() });
      expect(accepted.status).toBe(200);
      const eras = new EraStore(after.database);
      const { dumpedAt } = await eras.read();
      const [emails] = (await eras.countDueSince(dumpedAt!)).queues;
      expect(emails!.dueSince).toBeGreaterThanOrEqual(dueSince);
      expect(emails!.dueBefore).toBe(0);
      await sleep(3_000);
      expect(after.sink.count).toBe(0);

      const resumed = await posthorn(restored.url, [
        'resume',
        '--fail-before',
        stoppedAt.toISOString(),
        '--json',
      ]);
      expect(resumed).toMatchObject({ wasRestored: true, failed: dueSince });
      await makeDue(after, EMAILS);
      await after.settled(LONG_MS);

      const [old, young] = [idsOf(before.sink.messages), idsOf(after.sink.messages)];
      expect([before.sink.count, after.sink.count]).toEqual([old.size, young.size]);
      expect([...young].filter((id) => old.has(id))).toEqual([]);
      expect(young.size).toBe(EMAILS - sentBefore - dueSince + 1);
      expect(await after.show(emailIn(accepted).id)).toMatchObject({ status: 'SENT' });
      expect(
        await after.count(
          `SELECT count(*) FROM emails e JOIN email_events v ON v.email_id = e.id
         WHERE  e.status = 'FAILED' AND v.kind = 'FAILED' AND v.detail ->> 'reason' = 'restored' AND v.duplicate_possible`,
        ),
      ).toBe(dueSince);
      const doubtful = `SELECT count(*) FROM email_events WHERE duplicate_possible AND kind <> 'FAILED'`;
      expect(await after.count(doubtful)).toBe(0);
    },
    120_000 + 4 * LONG_MS,
  );
});

/** The output of the command line. */
async function posthorn(url: string, args: string[]): Promise<unknown> {
  const program = await ProgramUnderTest.start('tools/posthorn.mjs', { args, env: { DATABASE_URL: url } });
  await program.exit;
  return JSON.parse(program.output);
}

function idsOf(messages: readonly SinkMessage[]): Set<string> {
  return new Set(messages.map(({ raw }) => /^Message-ID: (.*)$/m.exec(raw.toString('latin1'))![1]!));
}
