import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type { WorkspaceId } from '@posthorn/kernel';
import { PrivatePostgres } from '@posthorn/testing';
import { ExaminedDatabase } from './examined-database.ts';
import { faultOf, isOutage } from './faults.ts';
import { TestStores, rawEmail } from './test-stores.fixture.ts';
import type { AcceptableRawEmail } from './stores/acceptable-email.ts';

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
    await standby.stop();
    const accepted = stores.accept([email]).catch((error: unknown) => error);
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
    while ((await stores.ask(waiting)).length === 0) await sleep(20);
    await primary.crash();
    expect(faultOf(await accepted)).toBe('lost');
    await primary.restart();
  });
  afterEach(() => standby.restart());

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
      const told = await ask().catch((error: unknown) => (isOutage(error) ? NOT_KNOWN : error));
      expect(told).toBe(NOT_KNOWN);
      await standby.restart();
      expect(await ask()).toBe(true);
    },
  );
});
