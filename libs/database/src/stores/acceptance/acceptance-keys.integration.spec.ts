import { describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import fc from 'fast-check';
import type pg from 'pg';
import { faultOf } from '../../faults/faults.ts';
import { rawEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import type {
  AcceptableCall,
  AcceptableEmail,
  AcceptableRawEmail,
  AcceptanceOutcome,
} from './acceptable-email.ts';
import { AcceptanceTransaction } from './acceptance-transaction.ts';

const STRANGER = { from: { address: 'hello@other.example' }, fromDomain: 'other.example' };
/** The refusal of a sender outside of the verified `example.com`. */
const UNVERIFIED = { kind: 'unverified', addresses: [], domains: ['example.com'], unverified: null };
const DAY_MS = 86_400_000;

const stores = await openTestStores();
const otherStores = stores.another();

function fingerprintOf(payload: string): Buffer {
  return hash('sha256', payload, 'buffer');
}

function keyed(
  workspaceId: WorkspaceId,
  key: string,
  { payload = 'same', expiresInMs = DAY_MS, ...change }: KeyedOptions = {},
): AcceptableRawEmail {
  const email = rawEmail(workspaceId, change);
  const expiresAt = new Date(Date.now() + expiresInMs);
  const idempotency = {
    key,
    fingerprint: fingerprintOf(payload),
    answer: `answer of ${email.id}`,
    expiresAt,
  };
  return { ...email, idempotency };
}

/** A call of several emails with the key `k` for the whole call. */
function batchOf(
  emails: readonly AcceptableEmail[],
  answerFor: () => string | undefined = () => 'told',
): AcceptableCall {
  const expiresAt = new Date(Date.now() + DAY_MS);
  const idempotency = { key: 'k', fingerprint: fingerprintOf('batch'), expiresAt, answerFor };
  return { workspaceId: emails[0]!.workspaceId, emails, idempotency };
}

type KeyedOptions = { payload?: string; expiresInMs?: number } & Partial<AcceptableRawEmail>;

async function acceptOne(email: AcceptableEmail, from = stores): Promise<AcceptanceOutcome> {
  const [outcome] = await from.accept([email], null);
  return outcome!;
}

function replayOf(email: AcceptableEmail): AcceptanceOutcome {
  const { fingerprint, answer } = email.idempotency!;
  return { kind: 'replayed', fingerprint, answer };
}

async function emailsOf(workspaceId: WorkspaceId): Promise<number> {
  return stores.count('emails', 'workspace_id = $1', [uuidOf(workspaceId)]);
}

describe('An idempotency key', () => {
  it('answers every later call like the first', async () => {
    const acme = await stores.openWorkspace();
    const first = keyed(acme, 'k');
    expect(await acceptOne(first)).toEqual({ kind: 'accepted' });
    expect(await acceptOne(keyed(acme, 'k'), otherStores)).toEqual(replayOf(first));
    expect(await emailsOf(acme)).toBe(1);
  });

  it('answers a call with another payload with the email that has the key, and accepts nothing', async () => {
    const acme = await stores.openWorkspace();
    const first = keyed(acme, 'k', { payload: 'one' });
    await acceptOne(first);
    expect(await acceptOne(keyed(acme, 'k', { payload: 'two' }))).toEqual(replayOf(first));
    expect(await emailsOf(acme)).toBe(1);
  });

  it('can be looked up while it is in use', async () => {
    const acme = await stores.openWorkspace();
    const first = keyed(acme, 'k');
    await acceptOne(first);
    await acceptOne(keyed(acme, 'past', { expiresInMs: -1_000 }));
    const { fingerprint, answer } = first.idempotency!;

    expect(await stores.acceptance.findAnswer(acme, 'k')).toMatchObject({ fingerprint, answer });
    expect(await stores.acceptance.findAnswer(acme, 'K')).toBeUndefined();
    expect(await stores.acceptance.findAnswer(acme, 'past')).toBeUndefined();
  });

  it('of a whole call belongs to its workspace, also where another one of its group has the same key', async () => {
    const [acme, globex] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const first = batchOf([rawEmail(acme)], () => 'of acme');
    await stores.acceptance.accept([first], null);
    const ofGlobex = batchOf([rawEmail(globex)], () => 'of globex');
    const again = batchOf([rawEmail(acme)], () => 'never told');
    const replay = { kind: 'replayed', fingerprint: fingerprintOf('batch'), answer: 'of acme' };
    expect(await stores.acceptance.accept([again, ofGlobex], null)).toMatchObject([
      replay,
      { kind: 'decided', emails: [{ kind: 'accepted' }], answer: 'of globex' },
    ]);
    const refused = batchOf([rawEmail(await stores.openWorkspace(), STRANGER)], () => undefined);
    await stores.acceptance.accept([refused], null);
    expect(await stores.acceptance.accept([first], null)).toEqual([replay]);
    expect([await emailsOf(acme), await emailsOf(globex)]).toEqual([1, 1]);
  });

  it('that another email of the group has does not shorten the explanation of a refusal', async () => {
    const acme = await stores.openWorkspace();
    await acceptOne(keyed(acme, 'k'));
    const { pool, clock } = stores.database;
    const told: unknown[] = [];
    const query = async (asked: pg.QueryConfig, values?: unknown[]): Promise<pg.QueryResult> => {
      const result = await pool.query(asked, values);
      if (asked.name === 'accept_keyed_emails') told.push(...(result.rows as unknown[]));
      return result;
    };
    const calls = [{ workspaceId: acme, emails: [keyed(acme, 'k'), rawEmail(acme, STRANGER)] }];
    await new AcceptanceTransaction({ query } as unknown as pg.PoolClient, calls, null, clock).decide();
    const [, ...refused] = told;
    expect(refused).toEqual([expect.objectContaining({ n: 1, domains: ['example.com'] })]);
  });

  it('belongs to its workspace', async () => {
    const [acme, globex] = [await stores.openWorkspace(), await stores.openWorkspace()];
    const outcomes = await stores.accept([keyed(acme, 'k'), keyed(globex, 'k')], null);
    expect(outcomes).toEqual([{ kind: 'accepted' }, { kind: 'accepted' }]);
  });

  it('is taken by one email of its group, however many have it, and only that one is stored and counted', async () => {
    const acme = await stores.openWorkspace();
    const [first, ...others] = [keyed(acme, 'k'), keyed(acme, 'k'), keyed(acme, 'k', { payload: 'other' })];
    const outcomes = await stores.accept([first, ...others]);
    expect(outcomes).toEqual([{ kind: 'accepted' }, replayOf(first), replayOf(first)]);
    const ids = [first, ...others].map(({ id }) => uuidOf(id));
    expect(await stores.ask('SELECT id FROM emails WHERE id = ANY($1)', [ids])).toEqual([{ id: ids[0] }]);
    expect(await stores.count('outbox', 'subject_id = ANY($1)', [ids])).toBe(1);
    expect(await stores.ask('SELECT accepted FROM usage WHERE workspace_id = $1', [uuidOf(acme)])).toEqual([
      { accepted: 1 },
    ]);
  });

  it('can be used again when it has expired', async () => {
    const acme = await stores.openWorkspace();
    await acceptOne(keyed(acme, 'k', { expiresInMs: -1 }));
    const second = keyed(acme, 'k', { payload: 'other' });
    expect(await acceptOne(second)).toEqual({ kind: 'accepted' });
    expect(await acceptOne(keyed(acme, 'k', { payload: 'other' }))).toEqual(replayOf(second));
    expect(await emailsOf(acme)).toBe(2);
  });

  it.each([
    { refusal: 'an unverified sender', change: STRANGER, limit: null },
    { refusal: 'the monthly limit', change: {}, limit: 1 },
  ])('is not used up by a call that was refused for $refusal', async ({ change, limit }) => {
    const acme = await stores.openWorkspace(limit);
    if (limit !== null) await acceptOne(rawEmail(acme));
    const outcomes = await stores.accept([keyed(acme, 'k', change), rawEmail(acme, STRANGER)], null);
    expect(outcomes.map((outcome) => outcome.kind)).not.toContain('accepted');
    expect(await stores.count('idempotency_keys', 'workspace_id = $1', [uuidOf(acme)])).toBe(0);

    await stores.ask('UPDATE workspaces SET monthly_email_limit = NULL WHERE id = $1', [uuidOf(acme)]);
    expect(await acceptOne(keyed(acme, 'k'))).toEqual({ kind: 'accepted' });
  });

  it('can be in a group with emails without one; the outcomes are in order', async () => {
    const acme = await stores.openWorkspace();
    const first = keyed(acme, 'used');
    await acceptOne(first);
    const group = [rawEmail(acme, STRANGER), keyed(acme, 'used'), keyed(acme, 'new'), rawEmail(acme)];
    expect(await stores.accept(group, null)).toEqual([
      UNVERIFIED,
      replayOf(first),
      { kind: 'accepted' },
      { kind: 'accepted' },
    ]);
  });
});

describe('The loser of a race for a key', () => {
  it('is decided on its own when the winner was refused, and does not get its answer', async () => {
    const acme = await stores.openWorkspace();
    const winners = Array.from({ length: 8 }, () => acceptOne(keyed(acme, 'k', STRANGER)));
    const losers = Array.from({ length: 8 }, () => acceptOne(keyed(acme, 'k'), otherStores));
    const refused = (await Promise.all(winners)).map((outcome) => outcome.kind);
    const kinds = (await Promise.all(losers)).map((outcome) => outcome.kind);

    expect(refused.every((kind) => ['unverified', 'replayed'].includes(kind))).toBe(true);
    expect(kinds.filter((kind) => kind === 'accepted')).toHaveLength(1);
    expect(kinds.filter((kind) => kind === 'replayed')).toHaveLength(7);
  });

  it('against a whole call of its own group is deferred as a whole, and finds the key free when the call was refused', async () => {
    const acme = await stores.openWorkspace();
    const refused = batchOf([rawEmail(acme, STRANGER)], () => undefined);
    const behind = { workspaceId: acme, emails: [rawEmail(acme), keyed(acme, 'k')] };
    expect(await stores.acceptance.accept([refused, behind], null)).toMatchObject([
      { kind: 'decided', emails: [UNVERIFIED], answer: undefined },
      { kind: 'retry' },
    ]);
    expect(await emailsOf(acme)).toBe(0);
    expect(await stores.acceptance.accept([behind], null)).toMatchObject([
      { kind: 'decided', emails: [{ kind: 'accepted' }, { kind: 'accepted' }] },
    ]);
  });

  it('that is a whole call is deferred until after an email of its own group', async () => {
    const acme = await stores.openWorkspace();
    const email = keyed(acme, 'k');
    const calls = [{ workspaceId: acme, emails: [email] }, batchOf([rawEmail(acme)])];
    expect(await stores.acceptance.accept(calls, null)).toMatchObject([
      { kind: 'decided', emails: [{ kind: 'accepted' }] },
      { kind: 'retry' },
    ]);
    expect(await stores.acceptance.accept([calls[1]!], null)).toEqual([replayOf(email)]);
  });

  it('that is a whole call gets the answer of the one before it in its group, in that group and in any later one', async () => {
    const acme = await stores.openWorkspace();
    const copies = Array.from({ length: 40 }, () => batchOf([rawEmail(acme)]));
    const replay = { kind: 'replayed', fingerprint: fingerprintOf('batch'), answer: 'told' };
    const [first, ...others] = await stores.acceptance.accept(copies, null);
    expect(first).toMatchObject({ kind: 'decided', emails: [{ kind: 'accepted' }] });
    expect(others).toEqual(others.map(() => replay));
    expect(await stores.acceptance.accept(copies, null)).toEqual(copies.map(() => replay));
    expect(await emailsOf(acme)).toBe(1);
  });

  it('is decided on its own for each payload of a whole batch, if all of them are refused', async () => {
    const acme = await stores.openWorkspace();
    const emails = Array.from({ length: 50 }, (_, n) => keyed(acme, 'k', { ...STRANGER, payload: `${n}` }));
    const outcomes = await stores.accept([...emails, keyed(await stores.openWorkspace(), 'k')]);
    expect(outcomes).toEqual([...emails.map(() => UNVERIFIED), { kind: 'accepted' }]);
    expect(await acceptOne(keyed(acme, 'k'))).toEqual({ kind: 'accepted' });
  });

  it('finds the key taken by the payload between it and the winner, though it has the payload of the winner', async () => {
    const acme = await stores.openWorkspace();
    const refused = { ...STRANGER, payload: 'refused' };
    const sound = keyed(acme, 'k');
    const outcomes = await stores.accept([
      keyed(acme, 'k', refused),
      keyed(acme, 'k', refused),
      sound,
      keyed(acme, 'k', refused),
    ]);
    expect(outcomes).toEqual([UNVERIFIED, UNVERIFIED, { kind: 'accepted' }, replayOf(sound)]);
  });

  it('keeps its place in its group when the winner was refused: what is left of the month is for it, not for those behind it', async () => {
    const acme = await stores.openWorkspace(2);
    const [first, other] = [keyed(acme, 'k'), keyed(acme, 'k', { payload: 'other' })];
    const outcomes = await stores.accept([
      keyed(acme, 'k', { ...STRANGER, payload: 'refused' }),
      first,
      keyed(acme, 'l', STRANGER),
      keyed(acme, 'l', { payload: 'other' }),
      rawEmail(acme),
      other,
    ]);
    const overLimit = { kind: 'over_limit', used: 2, monthlyLimit: 2 };
    const accepted = { kind: 'accepted' };
    expect(outcomes).toEqual([UNVERIFIED, accepted, UNVERIFIED, accepted, overLimit, replayOf(first)]);
  });

  it('is refused with a winner that exceeded the monthly limit, but decided on its own in another month', async () => {
    const acme = await stores.openWorkspace(1);
    const [last, next] = [new Date('2027-01-31T23:59:59.999Z'), new Date('2027-02-01T00:00:00.000Z')];
    await acceptOne(rawEmail(acme, { acceptedAt: last }));
    const before = Array.from({ length: 48 }, () => last);
    const outcomes = await stores.accept(
      [...before, next, next].map((acceptedAt, n) => keyed(acme, 'k', { acceptedAt, payload: `${n}` })),
    );
    const kinds = outcomes.map(({ kind }) => kind);
    expect(kinds).toEqual([...before.map(() => 'over_limit'), 'accepted', 'replayed']);
    expect(await emailsOf(acme)).toBe(2);
  });

  it('waits for a winner in progress, and gets the key when that one is rolled back', async () => {
    const acme = await stores.openWorkspace();
    const winner = await stores.database.pool.connect();
    await winner.query('BEGIN');
    await winner.query(
      `INSERT INTO idempotency_keys VALUES ($1, 'k', sha256('x'), 'never told', now() + interval '1 day')`,
      [uuidOf(acme)],
    );
    let answered = false;
    const loser = acceptOne(keyed(acme, 'k'), otherStores).finally(() => (answered = true));
    await stores.untilWaiting();
    expect(answered).toBe(false);
    await winner.query('ROLLBACK');
    winner.release();
    expect(await loser).toEqual({ kind: 'accepted' });
  });

  it('stops waiting for a winner that does not end, so that its caller can be told to retry', async () => {
    const acme = await stores.openWorkspace();
    const winner = await stores.database.pool.connect();
    await winner.query('BEGIN');
    await winner.query(
      `INSERT INTO idempotency_keys VALUES ($1, 'k', sha256('x'), 'never told', now() + interval '1 day')`,
      [uuidOf(acme)],
    );
    const loser = stores.another(1, { lockMs: 2_000 });
    const error: unknown = await acceptOne(keyed(acme, 'k'), loser).catch((thrown: unknown) => thrown);
    await winner.query('ROLLBACK');
    winner.release();
    expect(faultOf(error)).toBe('locked');
  });
});

describe('Idempotency keys in concurrent calls of two processes', () => {
  /** Groups of (workspace, key, refused); no key twice in a group, as the use case ensures. */
  const race = fc.array(
    fc.uniqueArray(fc.tuple(fc.nat(2), fc.nat(3), fc.boolean()), {
      selector: ([workspace, key]) => `${workspace} ${key}`,
      minLength: 1,
      maxLength: 8,
    }),
    { minLength: 10, maxLength: 24 },
  );

  it('let exactly one email per key be accepted, answer the others with its answer, and never deadlock', async () => {
    await fc.assert(
      fc.asyncProperty(race, async (groups) => {
        const workspaces = await Promise.all([1, 2, 3].map(() => stores.openWorkspace()));
        const asked = groups.map((parts) =>
          parts.map(([which, key, isRefused]) =>
            keyed(workspaces[which]!, `key ${key}`, isRefused ? STRANGER : {}),
          ),
        );
        const outcomes = await Promise.all(
          asked.map((group, n) => (n % 2 === 0 ? stores : otherStores).accept(group, null)),
        ).catch((error: unknown) => {
          if (faultOf(error) !== 'locked') throw error;
          return undefined;
        });
        // If the machine is suspended for seconds, a call may time out; which one won is then unknown.
        fc.pre(outcomes !== undefined);
        const told = asked.flatMap((group, n) =>
          group.map((email, place) => ({ email, outcome: outcomes[n]![place]! })),
        );
        await expectOneWinnerEach(told);
      }),
      { numRuns: 15 },
    );
  });

  async function expectOneWinnerEach(told: { email: AcceptableEmail; outcome: AcceptanceOutcome }[]) {
    const byKey = Map.groupBy(told, ({ email }) => `${email.workspaceId} ${email.idempotency!.key}`);
    const winners: EmailId[] = [];
    for (const calls of byKey.values()) {
      const accepted = calls.filter(({ outcome }) => outcome.kind === 'accepted');
      const isPossible = calls.some(({ email }) => email.fromDomain === 'example.com');
      expect(accepted).toHaveLength(isPossible ? 1 : 0);
      winners.push(...accepted.map(({ email }) => email.id));
      for (const { email, outcome } of calls) {
        if (outcome.kind === 'accepted') continue;
        expect(outcome).toEqual(
          outcome.kind === 'unverified' && email.fromDomain !== 'example.com'
            ? UNVERIFIED
            : replayOf(accepted[0]!.email),
        );
      }
    }
    expect(await stores.acceptance.findAccepted(told.map(({ email }) => email.id))).toEqual(new Set(winners));
  }
});
