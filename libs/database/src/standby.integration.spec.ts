import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { WorkspaceId } from '@posthorn/kernel';
import { PrivatePostgres } from '@posthorn/testing';
import { ExaminedDatabase } from './examined-database.ts';
import { faultOf, isOutage } from './faults.ts';
import { TestStores, rawEmail, scheduledEmail } from './test-stores.fixture.ts';
import type { AcceptableRawEmail } from './stores/acceptable-email.ts';
import { EmailChanges } from './stores/email-changes.ts';

const HOUR_MS = 3_600_000;
const NOT_KNOWN = 'not known';

describe('Data that a primary shows after a crash, but its synchronous standby does not have', () => {
  let primary: PrivatePostgres;
  let standby: PrivatePostgres;
  let stores: TestStores;
  let workspaceId: WorkspaceId;
  let email: AcceptableRawEmail;

  beforeAll(async () => {
    primary = await PrivatePostgres.start();
    standby = await primary.addStandby();
    stores = new TestStores(primary.url);
    workspaceId = await stores.openWorkspace();
  });
  afterAll(async () => {
    await stores.close();
    await standby.close();
    await primary.close();
  });

  beforeEach(async () => {
    email = keyedEmail();
    await crashDuring(() => stores.accept([email]));
  });
  afterEach(() => standby.restart());

  /** Afterwards the primary has the change, and the standby is away and has it not. */
  async function crashDuring(change: () => Promise<unknown>): Promise<void> {
    await standby.stop();
    const changed = change().catch((error: unknown) => error);
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    while ((await stores.ask(waiting)).length === 0) await sleep(20);
    await primary.crash();
    expect(faultOf(await changed)).toBe('lost');
    await primary.restart();
  }

  function keyedEmail(change: Partial<AcceptableRawEmail> = {}): AcceptableRawEmail {
    const raw = rawEmail(workspaceId, change);
    const expiresAt = new Date(Date.now() + HOUR_MS);
    const fingerprint = createHash('sha256').digest();
    return { ...raw, idempotency: { key: raw.id, fingerprint, answer: `answer of ${raw.id}`, expiresAt } };
  }

  const isFound = async (): Promise<boolean> =>
    (await stores.acceptance.findAccepted([email.id])).has(email.id);
  const isAnswered = async (): Promise<boolean> =>
    (await stores.acceptance.findAnswer(workspaceId, email.id)) !== undefined;
  const isRepeated = async (): Promise<boolean> => {
    const again = { ...keyedEmail(), idempotency: email.idempotency! };
    return (await stores.accept([again]))[0]!.kind === 'replayed';
  };

  const reported = (ask: () => Promise<boolean>): Promise<unknown> =>
    ask().catch((error: unknown) => (isOutage(error) ? NOT_KNOWN : error));

  it('is reported: examining the database shows how many transactions wait for the standby', async () => {
    const examined = new ExaminedDatabase(primary.url);
    const awaiting = async (): Promise<number> => (await examined.readServer()).awaitingStandby;
    expect(await awaiting()).toBe(0);
    // The connection is then closed; its transaction goes on waiting.
    const accepted = stores.accept([keyedEmail()]).catch((error: unknown) => error);
    expect(faultOf(await accepted)).toBe('lost');
    expect(await awaiting()).toBe(1);
    await standby.restart();
    while ((await awaiting()) > 0) await sleep(20);
    await examined.close();
  });

  it.each([
    ['its emails', isFound],
    ['what a key stands for', isAnswered],
    ['what is sent again under its key', isRepeated],
  ])(
    'is returned to nobody until the standby has it, as a failover would lose it: %s',
    async (_what, ask) => {
      expect(await reported(ask)).toBe(NOT_KNOWN);
      await standby.restart();
      expect(await ask()).toBe(true);
    },
  );

  it('is returned to nobody until the standby has it, as a failover would lose it: that an email was cancelled before', async () => {
    await standby.restart();
    const scheduled = scheduledEmail(workspaceId, new Date(Date.now() + HOUR_MS));
    await stores.accept([scheduled]);
    const cancel = (): Promise<boolean> =>
      new EmailChanges(stores.database).cancel(workspaceId, scheduled.id);
    await crashDuring(cancel);
    expect(await reported(cancel)).toBe(NOT_KNOWN);
    await standby.restart();
    expect(await cancel()).toBe(false);
    expect(await stores.statusOf(scheduled.id)).toBe('CANCELLED');
  });
});
