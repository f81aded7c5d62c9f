import { expect, it } from '@jest/globals';
import { type AcceptableCall, AcceptanceStore, IdentityStore, WorkspaceStore } from '@posthorn/database';
import { POSTHORN, type RawEmailDraft } from '@posthorn/domain';
import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { ResilientAcceptance } from './resilient-acceptance.ts';
import { fingerprintOf, keyExpiryAfter, prepareRawEmail } from './prepare-email.ts';
import { rawDraft } from './raw-draft.fixture.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { watchConnections } from '../watch-connections.fixture.ts';

const database = await openTestDatabase(6);

async function openWorkspace(): Promise<WorkspaceId> {
  const { id } = await new WorkspaceStore(database).create(POSTHORN, 'Group', null);
  await new IdentityStore(database).put(id, POSTHORN, {
    kind: 'domain',
    value: 'example.com',
    verified: true,
  });
  return id;
}

/** A call with an email for each change of the draft. */
function callFrom(workspaceId: WorkspaceId, ...changes: Partial<RawEmailDraft>[]): AcceptableCall {
  const context = { workspaceId, clock: database.clock, isBulk: false };
  const drafts = changes.length === 0 ? [rawDraft()] : changes.map((change) => rawDraft(change));
  return { workspaceId, emails: drafts.map((draft) => prepareRawEmail(draft, null, context)) };
}

/** The ids of the emails of each transaction, and whether to lose the answer to the first one, or to fail before it. */
function losing(what: 'answer' | 'statement'): {
  readonly group: ResilientAcceptance;
  readonly accepted: EmailId[][];
} {
  const store = new AcceptanceStore(database);
  const accepted: EmailId[][] = [];
  const lost = new Error('Connection terminated unexpectedly');
  const accept: AcceptanceStore['accept'] = async (calls, monthlyLimit) => {
    accepted.push(calls.flatMap(({ emails }) => emails.map(({ id }) => id)));
    if (what === 'statement' && accepted.length === 1) throw lost;
    const outcomes = await store.accept(calls, monthlyLimit);
    if (accepted.length === 1) throw lost;
    return outcomes;
  };
  const findAccepted: AcceptanceStore['findAccepted'] = (ids) => store.findAccepted(ids);
  return { group: new ResilientAcceptance({ accept, findAccepted }, null), accepted };
}

async function emailsOf(workspaceId: WorkspaceId): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>(
    'SELECT count(*)::int FROM emails WHERE workspace_id = $1',
    [uuidOf(workspaceId)],
  );
  return rows[0]!.count;
}

it('emails of a workspace whose usage row is locked are answered 503, and fail no others of their group', async () => {
  const group = new ResilientAcceptance(new AcceptanceStore(database), null);
  const [held, free] = [await openWorkspace(), await openWorkspace()];
  const calls = [held, free, held].map((id) => callFrom(id));
  await group.accept([callFrom(held)]);

  const holder = await database.pool.connect();
  // The group waits for it twice, for nearly as long as a session of ours may be idle.
  await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`);
  await holder.query('SELECT FROM usage WHERE workspace_id = $1 FOR UPDATE', [uuidOf(held)]);
  const outcomes = await group.accept(calls);
  await holder.query('ROLLBACK');
  holder.release();

  expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'decided', 'failed']);
  expect(outcomes[0]).toMatchObject({ error: { statusCode: 503 } });
  const { rows } = await database.pool.query<{ count: number }>('SELECT count(*)::int FROM emails');
  expect(rows[0]!.count).toBe(2);
});

it('many workspaces with locked usage rows are answered 503, and leave connections to everybody else', async () => {
  const group = new ResilientAcceptance(new AcceptanceStore(database), null);
  const held = await Promise.all(Array.from({ length: 25 }, openWorkspace));
  const free = await openWorkspace();
  await group.accept(held.map((id) => callFrom(id)));
  const holder = await database.pool.connect();
  await holder.query(`BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0`);
  await holder.query('SELECT FROM usage FOR UPDATE');
  const connections = watchConnections(database);
  const outcomes = await group.accept([...held, free].map((id) => callFrom(id)));
  await holder.query('ROLLBACK');
  holder.release();
  const lockedOut = held.map(() => ({ kind: 'failed', error: { statusCode: 503 } }));
  expect(outcomes).toMatchObject([...lockedOut, { kind: 'decided', emails: [{ kind: 'accepted' }] }]);
  // That of the holder, and one.
  expect(connections.most).toBe(2);
});

it('emails of a workspace with repeated conflicts fail no others of their group', async () => {
  const group = new ResilientAcceptance(new AcceptanceStore(database), null);
  const [crossed, free] = [await openWorkspace(), await openWorkspace()];
  await database.pool.query(
    `CREATE FUNCTION cross() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE deadlock_detected; END $$;
     CREATE TRIGGER crossed BEFORE INSERT ON usage FOR EACH ROW WHEN (NEW.workspace_id = '${uuidOf(crossed)}') EXECUTE FUNCTION cross()`,
  );
  const outcomes = await group.accept([crossed, free, crossed].map((id) => callFrom(id)));
  await database.pool.query('DROP TRIGGER crossed ON usage');
  expect(outcomes.map(({ kind }) => kind)).toEqual(['failed', 'decided', 'failed']);
  expect(outcomes[0]).toMatchObject({ error: { statusCode: 503 } });
});

const STRANGER = { from: { address: 'a@stranger.example' } };

it('when the answer to a COMMIT is lost, what was accepted is not tried again, and each email of a batch keeps its outcome', async () => {
  const { group, accepted } = losing('answer');
  const workspaceId = await openWorkspace();
  const calls = [callFrom(workspaceId), callFrom(workspaceId, STRANGER, {}, STRANGER, {})];
  const outcomes = await group.accept(calls);
  const [stranger, , otherStranger] = calls[1]!.emails;
  expect(accepted.slice(1)).toEqual([[stranger!.id, otherStranger!.id]]);
  expect(outcomes).toMatchObject([
    { kind: 'decided', emails: [{ kind: 'accepted' }] },
    {
      kind: 'decided',
      emails: ['unverified', 'accepted', 'unverified', 'accepted'].map((kind) => ({ kind })),
    },
  ]);
  expect(await emailsOf(workspaceId)).toBe(3);
});

it('when the answer to a COMMIT is lost, calls with a key are repeated, and get the answer that is stored under it', async () => {
  const { group } = losing('answer');
  const workspaceId = await openWorkspace();
  const idempotency = {
    key: 'one',
    fingerprint: fingerprintOf({}),
    expiresAt: keyExpiryAfter(new Date()),
    answerFor: () => 'told',
  };
  const withoutEmails = { workspaceId, emails: [], idempotency: { ...idempotency, key: 'two' } };
  const outcomes = await group.accept([{ ...callFrom(workspaceId), idempotency }, withoutEmails]);
  expect(outcomes).toMatchObject(Array(2).fill({ kind: 'replayed', answer: 'told' }));
  expect(await emailsOf(workspaceId)).toBe(1);
});

it('when the answer to a COMMIT is lost, no call of which anything was accepted is repeated, not even for the sake of a key that is now taken', async () => {
  const { group } = losing('answer');
  const workspaceId = await openWorkspace();
  const keyed = { idempotencyKey: 'shared' };
  const wholeCall = {
    key: 'shared',
    fingerprint: fingerprintOf({}),
    expiresAt: keyExpiryAfter(new Date()),
    answerFor: () => 'told',
  };
  // At first, the second call has to wait for the key of the first; without that one, the third would have to wait for the second.
  const outcomes = await group.accept([
    callFrom(workspaceId, keyed),
    { ...callFrom(workspaceId), idempotency: wholeCall },
    callFrom(workspaceId, {}, keyed),
  ]);
  expect(outcomes[2]).toMatchObject({
    kind: 'decided',
    emails: [{ kind: 'accepted' }, { kind: 'contended' }],
  });
  expect(await emailsOf(workspaceId)).toBe(2);
});

it('when the answer to a COMMIT is lost, its outcome is looked up until the database answers, but not after a fault of ours', async () => {
  const store = new AcceptanceStore(database);
  const workspaceId = await openWorkspace();
  const [lost, ours] = [new Error('Connection terminated unexpectedly'), new TypeError('of ours')];
  const faults: Error[] = [lost, lost];
  const group = new ResilientAcceptance(
    {
      accept: async (calls, monthlyLimit) => {
        await store.accept(calls, monthlyLimit);
        throw lost;
      },
      findAccepted: async (ids) => {
        const fault = faults.shift();
        if (fault !== undefined) throw fault;
        return store.findAccepted(ids);
      },
    },
    null,
  );
  expect(await group.accept([callFrom(workspaceId)])).toMatchObject([{ kind: 'decided' }]);
  faults.push(ours);
  await expect(group.accept([callFrom(workspaceId)])).rejects.toBe(ours);
});

it('when the connection is lost before the COMMIT, everything is tried again', async () => {
  const { group } = losing('statement');
  const workspaceId = await openWorkspace();
  const outcomes = await group.accept([callFrom(workspaceId, {}, STRANGER), callFrom(workspaceId)]);
  expect(outcomes).toMatchObject([
    { kind: 'decided', emails: [{ kind: 'accepted' }, { kind: 'unverified' }] },
    { kind: 'decided', emails: [{ kind: 'accepted' }] },
  ]);
  expect(await emailsOf(workspaceId)).toBe(2);
});

it('a conflict is tried again twice, and is then answered 503', async () => {
  const store = new AcceptanceStore(database);
  const workspaceId = await openWorkspace();
  let conflicts = 2;
  const group = new ResilientAcceptance(
    {
      accept: (calls, monthlyLimit) => {
        if (conflicts-- > 0) throw Object.assign(new Error('deadlock detected'), { code: '40P01' });
        return store.accept(calls, monthlyLimit);
      },
      findAccepted: (ids) => store.findAccepted(ids),
    },
    null,
  );
  expect(await group.accept([callFrom(workspaceId)])).toMatchObject([{ kind: 'decided' }]);
  conflicts = 3;
  await expect(group.accept([callFrom(workspaceId)])).rejects.toMatchObject({ statusCode: 503 });
  expect(await emailsOf(workspaceId)).toBe(1);
});

it('rejected data of one call fails no others of its group, and an outage meanwhile fails those that are left', async () => {
  const store = new AcceptanceStore(database);
  const workspaceId = await openWorkspace();
  const calls = Array.from({ length: 4 }, () => callFrom(workspaceId));
  const [, rejected, unlucky] = calls;
  let tries = 0;
  const group = new ResilientAcceptance(
    {
      accept: (some, monthlyLimit) => {
        tries += 1;
        if (some.includes(rejected!)) throw Object.assign(new Error('too long'), { code: '22001' });
        if (some.includes(unlucky!))
          throw Object.assign(new Error('no connection'), { code: 'ECONNREFUSED' });
        return store.accept(some, monthlyLimit);
      },
      findAccepted: (ids) => store.findAccepted(ids),
    },
    null,
  );
  const unavailable = { kind: 'failed', error: { statusCode: 503 } };
  expect(await group.accept(calls)).toMatchObject([
    { kind: 'decided', emails: [{ kind: 'accepted' }] },
    { kind: 'failed', error: { code: '22001' } },
    unavailable,
    unavailable,
  ]);
  // All together, and then three of them alone.
  expect(tries).toBe(4);
});
