import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, expect, it } from '@jest/globals';
import { newId, newUuid, type WorkspaceId } from '@posthorn/kernel';
import { operator } from '@posthorn/domain';
import { PrivatePostgres } from '@posthorn/testing';
import pg from 'pg';
import { DeliveryTestStores } from '../stores/webhooks/deliveries.fixture.ts';
import { ExaminedDatabase } from '../examined-database.ts';
import { faultOf, isOutage } from '../faults/faults.ts';
import { TestStores, rawEmail, scheduledEmail, sent } from '../test-stores.fixture.ts';
import type { AcceptableRawEmail } from '../stores/acceptance/acceptable-email.ts';
import { ApiKeyStore } from '../stores/workspaces/api-key-store.ts';
import { ContactChanges } from '../stores/contacts/contact-changes.ts';
import { ContactStore } from '../stores/contacts/contact-store.ts';
import { EmailChanges } from '../stores/emails/email-changes.ts';
import { EraStore } from '../stores/events/era-store.ts';
import { ErasureStore } from '../stores/retention/erasure-store.ts';
import { OperatorAccountStore } from '../stores/operators/operator-account-store.ts';
import { PausedLaneStore } from '../stores/outbox/paused-lane-store.ts';
import { RecoveryStore } from '../stores/webhooks/recovery-store.ts';
import { SealedSecretStore } from '../stores/sealed-secret-store.ts';
import { SubscriptionStore } from '../stores/contacts/subscription-store.ts';
import { SuppressionChanges } from '../stores/contacts/suppression-changes.ts';
import { WorkspaceDeletionStore } from '../stores/workspaces/workspace-deletion-store.ts';

const HOUR_MS = 3_600_000;
const NOT_KNOWN = 'not known';

/** More than the changes that wait for the standby at the same time. */
const POOL_SIZE = 30;
/** As of all processes: a second later, what waits for the standby is given up. */
const STATEMENT_MS = 5_000;

let primary: PrivatePostgres;
let standby: PrivatePostgres;
let stores: TestStores;
let workspaceId: WorkspaceId;

beforeAll(async () => {
  primary = await PrivatePostgres.start();
  standby = await primary.addStandby();
  stores = new TestStores(primary.url, POOL_SIZE, { statementMs: STATEMENT_MS });
  workspaceId = await stores.openWorkspace();
});
afterAll(async () => {
  await stores.close();
  await standby.close();
  await primary.close();
});
afterEach(bringStandbyBack);

/** Afterwards the standby follows, and nothing waits for it any more. */
async function bringStandbyBack(): Promise<void> {
  await standby.restart();
  const isBack = `SELECT EXISTS (SELECT FROM pg_stat_replication WHERE sync_state = 'sync' AND state = 'streaming')
    AND NOT EXISTS (SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep') AS "isBack"`;
  while (!(await stores.ask<{ isBack: boolean }>(isBack))[0]!.isBack) await sleep(20);
}

/** Afterwards the primary has the changes, and the standby is away and does not have them. */
async function crashDuring(...changes: readonly (() => Promise<unknown>)[]): Promise<void> {
  await standby.stop();
  const changed = changes.map((change) => change().catch((error: unknown) => error));
  const waiting = `SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  while ((await stores.ask(waiting)).length < changes.length) await sleep(20);
  await primary.crash();
  for (const result of await Promise.all(changed)) expect(faultOf(result)).toBe('lost');
  await primary.restart();
}

const reported = (ask: () => Promise<unknown>): Promise<unknown> =>
  ask().catch((error: unknown) => (isOutage(error) ? NOT_KNOWN : error));

function keyedEmail(): AcceptableRawEmail {
  const raw = rawEmail(workspaceId);
  const expiresAt = new Date(Date.now() + HOUR_MS);
  const fingerprint = createHash('sha256').digest();
  return { ...raw, idempotency: { key: raw.id, fingerprint, answer: `answer of ${raw.id}`, expiresAt } };
}

it('Examining a database shows how many transactions wait for the standby', async () => {
  await standby.stop();
  const examined = new ExaminedDatabase(primary.url);
  const awaiting = async (): Promise<number> => (await examined.readServer()).awaitingStandby;
  expect(await awaiting()).toBe(0);
  // The connection is then closed; its transaction goes on waiting.
  const accepted = stores.accept([keyedEmail()]).catch((error: unknown) => error);
  expect(faultOf(await accepted)).toBe('lost');
  expect(await awaiting()).toBe(1);
  // Ending it would only show others what the standby does not have.
  expect(await examined.findOpenTransactions()).toEqual([]);
  await standby.restart();
  while ((await awaiting()) > 0) await sleep(20);
  await examined.close();
});

it('An email whose wait for the standby an operator has cancelled is not confirmed, as a failover would lose it', async () => {
  await standby.stop();
  const email = keyedEmail();
  const accepted = stores.accept([email]).catch((error: unknown) => error);
  const cancelled = `SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'`;
  while ((await stores.ask(cancelled)).length === 0) await sleep(20);
  expect(faultOf(await accepted)).toBe('lost');
  await bringStandbyBack();
  expect((await stores.acceptance.findAccepted([email.id])).has(email.id)).toBe(true);
});

it('Emails that a primary has after a crash, but its standby does not, are returned to nobody until it has them, as a failover would lose them', async () => {
  // An email each: what is sent again waits for whoever reads its key.
  const emails = [keyedEmail(), keyedEmail(), keyedEmail()] as const;
  const [found, answered, repeated] = emails;
  await crashDuring(() => stores.accept(emails));
  const ask = (): Promise<unknown[]> =>
    Promise.all([
      reported(async () => (await stores.acceptance.findAccepted([found.id])).has(found.id)),
      reported(async () => (await stores.acceptance.findAnswer(workspaceId, answered.id)) !== undefined),
      reported(async () => {
        const again = { ...keyedEmail(), idempotency: repeated.idempotency! };
        return (await stores.accept([again]))[0]!.kind === 'replayed';
      }),
    ]);
  expect(await ask()).toEqual([NOT_KNOWN, NOT_KNOWN, NOT_KNOWN]);
  await bringStandbyBack();
  expect(await ask()).toEqual([true, true, true]);
});

/** A change, and a later call that finds nothing to change because of it. */
interface Repeated {
  readonly what: string;
  readonly change: () => Promise<unknown>;
  readonly ask: () => Promise<unknown>;
  readonly answer: unknown;
}

const OPERATOR = operator('test');

async function emailChanges(): Promise<Repeated[]> {
  const changes = new EmailChanges(stores.database);
  const later = new Date(Date.now() + HOUR_MS);
  const cancelled = async (): Promise<Repeated & { readonly move: () => Promise<unknown> }> => {
    // Of a workspace of its own: two cancellations in one wait for each other.
    const acme = await stores.openWorkspace();
    const email = scheduledEmail(acme, later);
    const { id } = email;
    await stores.accept([email]);
    const cancel = () => changes.cancel(acme, id);
    const move = () => changes.reschedule(acme, id, { at: later, keysKeptMs: 0 });
    return { what: 'an email was cancelled', change: cancel, ask: cancel, answer: false, move };
  };
  const [first, { move, ...second }] = [await cancelled(), await cancelled()];
  const claimed = await stores.acceptAndClaim(workspaceId);
  const record = () => stores.outbox.record([sent(claimed)]);
  return [
    first,
    { ...second, what: 'a cancelled email is not moved', ask: move, answer: undefined },
    { what: 'an email was sent', change: record, ask: record, answer: [false] },
  ];
}

async function recipientChanges(): Promise<Repeated[]> {
  const subscriptions = new SubscriptionStore(stores.database);
  const [subscribed] = await stores.acceptEmails(workspaceId, 1, { unsubscribe: true });
  const unsubscribe = async () => (await subscriptions.setStatus(subscribed!, 'UNSUBSCRIBED'))?.status;
  const suppressions = new SuppressionChanges(stores.database);
  const address = { email: 'bob@example.net', reason: 'MANUAL' } as const;
  const { id: suppressionId } = (await suppressions.add(workspaceId, OPERATOR, address)).suppression;
  const release = () => suppressions.remove(workspaceId, OPERATOR, suppressionId);
  const upsert = { workspaceId, email: 'eve@example.net', properties: {} };
  const { id: contactId } = (await new ContactStore(stores.database).upsert([upsert]))[0]!.contact;
  const forget = () => new ContactChanges(stores.database).delete(workspaceId, OPERATOR, contactId);
  return [
    { what: 'a recipient unsubscribed', change: unsubscribe, ask: unsubscribe, answer: 'UNSUBSCRIBED' },
    { what: 'an address is not suppressed', change: release, ask: release, answer: undefined },
    { what: 'a contact was deleted', change: forget, ask: forget, answer: undefined },
  ];
}

async function workspaceChanges(): Promise<Repeated[]> {
  const keys = new ApiKeyStore(stores.database);
  const secret = { secretHash: createHash('sha256').digest(), secretHint: 'phk_' };
  const key = await keys.create(workspaceId, OPERATOR, { displayName: 'key', role: 'EDITOR', ...secret });
  const revoke = () => keys.delete(workspaceId, OPERATOR, key!.id);
  // Of a workspace of its own: both changes lock theirs.
  const acme = await stores.openWorkspace();
  const webhook = await new DeliveryTestStores(stores).addWebhook(acme);
  const id = newId('rcv', Date.now());
  const period = { since: new Date(Date.now() - HOUR_MS), until: new Date() };
  const recover = async (recoveryId = newId('rcv', Date.now())) => {
    const wanted = { id: recoveryId, ...period };
    return (await new RecoveryStore(stores.database).begin(acme, OPERATOR, webhook, wanted))?.id;
  };
  return [
    { what: 'an API key was deleted', change: revoke, ask: revoke, answer: undefined },
    { what: 'deliveries are being recovered', change: () => recover(id), ask: () => recover(), answer: id },
  ];
}

async function operatorChanges(): Promise<Repeated[]> {
  const lanes = new PausedLaneStore(stores.database);
  const pause = () => lanes.pauseQueues(['event'], OPERATOR, 'maintenance');
  await lanes.pauseQueues(['webhook'], OPERATOR, 'maintenance');
  const resume = () => lanes.resumeQueues(['webhook'], OPERATOR, true);
  const accounts = new OperatorAccountStore(stores.database);
  await accounts.create(OPERATOR, 'ada', 'operator', 'hash');
  const remove = () => accounts.remove(OPERATOR, 'ada');
  return [
    { what: 'a queue is paused', change: pause, ask: pause, answer: undefined },
    { what: 'a queue is not paused', change: resume, ask: resume, answer: 0 },
    { what: 'an operator was removed', change: remove, ask: remove, answer: false },
  ];
}

it('Examining a standby shows whether its replay is paused, as after a restore to a point in time', async () => {
  const examined = new ExaminedDatabase(standby.url);
  const waits = async (): Promise<boolean> => (await examined.readServer()).isReplayPaused;
  expect(await waits()).toBe(false);
  const admin = new pg.Client(standby.url);
  await admin.connect();
  await admin.query('SELECT pg_wal_replay_pause()');
  while (!(await waits())) await sleep(20);
  await admin.query('SELECT pg_wal_replay_resume()');
  expect(await waits()).toBe(false);
  await admin.end();
  await examined.close();
});

async function permanentRemovals(): Promise<Repeated[]> {
  const acme = await stores.openWorkspace();
  const remove = async () =>
    (await new WorkspaceDeletionStore(stores.database).finish(acme, OPERATOR, {}))?.['workspaces'];
  const erasures = new ErasureStore(stores.database);
  // Of its own: other changes of the same one would wait for each other.
  const erasing = await stores.openWorkspace();
  const ida = { id: newId('ers', Date.now()), address: 'ida@example.net', isSuppressing: false };
  const erase = () => erasures.begin(erasing, OPERATOR, ida);
  const secrets = new SealedSecretStore(stores.database);
  const column = { table: 'jewels', column: 'stone', boundTo: 'jewel' };
  const [rowId, sealed, anew] = [newUuid(Date.now()), Buffer.from('old'), Buffer.from('new')];
  await stores.ask('CREATE TABLE jewels (id uuid PRIMARY KEY, stone bytea)');
  await stores.ask('INSERT INTO jewels VALUES ($1, $2)', [rowId, sealed]);
  const seal = () => secrets.replace(column, { rowId, sealed }, anew);
  const others = () => secrets.listOthers(column, anew, null, 1);
  return [
    { what: 'a workspace was deleted', change: remove, ask: remove, answer: 0 },
    { what: 'a person was erased', change: erase, ask: () => erasures.confirm(), answer: undefined },
    { what: 'no secret has an old key', change: seal, ask: others, answer: [] },
  ];
}

/** Makes the changes; the primary crashes before the standby has them. */
async function expectAnsweredWithStandby(repeated: readonly Repeated[]): Promise<void> {
  const ask = async (): Promise<Record<string, unknown>> =>
    Object.fromEntries(
      await Promise.all(repeated.map(async ({ what, ask }) => [what, await reported(ask)] as const)),
    );
  await crashDuring(...repeated.map(({ change }) => change));
  expect(await ask()).toEqual(Object.fromEntries(repeated.map(({ what }) => [what, NOT_KNOWN])));
  await bringStandbyBack();
  expect(await ask()).toEqual(Object.fromEntries(repeated.map(({ what, answer }) => [what, answer])));
}

it('A repeated change is answered only once the standby has the first one, as a failover would undo it', async () => {
  const changes = [
    emailChanges(),
    recipientChanges(),
    workspaceChanges(),
    operatorChanges(),
    permanentRemovals(),
  ];
  await expectAnsweredWithStandby((await Promise.all(changes)).flat());
});

it('Resuming everything again is answered only once the standby has the first time', async () => {
  await new PausedLaneStore(stores.database).pauseQueues(['email'], OPERATOR, 'maintenance');
  const release = () => new EraStore(stores.database).release(OPERATOR, {}, new Date());
  const answer = { queues: [], wasRestored: false };
  await expectAnsweredWithStandby([{ what: 'nothing is paused', change: release, ask: release, answer }]);
});
