import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { IdentityStore, TemplateChanges, WorkspaceStore } from '@posthorn/database';
import { bulkLane, type LaneId, nowLane, POSTHORN, type RawEmailDraft } from '@posthorn/domain';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import { openAcceptance } from './open-acceptance.ts';
import { rawDraft } from './raw-draft.fixture.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';
import { workspaceBeside } from '../workspace-beside.fixture.ts';

const DAY_MS = 24 * 3_600_000;

const database = await openTestDatabase(6);
const { id: workspaceId } = await new WorkspaceStore(database).create(POSTHORN, 'Shop', null);
await new IdentityStore(database).put(workspaceId, POSTHORN, {
  kind: 'domain',
  value: 'example.com',
  verified: true,
});
const rung: [LaneId, number][] = [];
const acceptance = openAcceptance({
  database,
  monthlyLimit: null,
  rings: { ring: (laneId, rows = 1) => void rung.push([laneId, rows]) },
  errorBodyOf: () => {
    throw new Error('none is refused');
  },
});

const inDays = (days: number): string => new Date(Date.now() + days * DAY_MS).toISOString();

async function acceptOne(change?: Partial<RawEmailDraft>): Promise<EmailId> {
  const { answer } = await acceptance.acceptOne(workspaceId, rawDraft(change));
  return (JSON.parse(answer) as { id: EmailId }).id;
}

async function acceptBatch(drafts: RawEmailDraft[], idempotencyKey?: string): Promise<EmailId[]> {
  const items = drafts.map((one) => ({ draft: one, to: one.to.address }));
  const { answer } = await acceptance.acceptBatch(workspaceId, {
    items,
    idempotencyKey,
    fingerprintSource: {},
  });
  const { emails } = JSON.parse(answer) as { emails: { successful: { id: EmailId }[] } };
  return emails.successful.map(({ id }) => id);
}

async function lanesOf(ids: readonly EmailId[]): Promise<string[]> {
  const sql = 'SELECT lane_id AS lane FROM outbox WHERE subject_id = ANY($1::uuid[])';
  const { rows } = await database.pool.query<{ lane: string }>(sql, [ids.map((id) => uuidOf(id))]);
  return rows.map(({ lane }) => lane);
}

/** The days from now until a key expires. */
async function daysKept(key: string): Promise<number> {
  const sql = 'SELECT expires_at AS until FROM idempotency_keys WHERE key = $1';
  const { rows } = await database.pool.query<{ until: Date }>(sql, [key]);
  return (rows[0]!.until.getTime() - Date.now()) / DAY_MS;
}

describe('An email that is accepted', () => {
  it('uses the lane `now` when it is single and unscheduled', async () => {
    expect(await lanesOf([await acceptOne()])).toEqual([nowLane(workspaceId)]);
  });

  it('uses the lane `bulk` when it is scheduled, or one of a batch', async () => {
    const ids = [await acceptOne({ sendAt: inDays(1) }), ...(await acceptBatch([rawDraft(), rawDraft()]))];
    const bulk = bulkLane(workspaceId);
    expect(await lanesOf(ids)).toEqual([bulk, bulk, bulk]);
  });

  it('rings its lane when it is due at once, and not when it is scheduled', async () => {
    rung.length = 0;
    await acceptBatch([rawDraft(), rawDraft({ sendAt: inDays(1) }), rawDraft()]);
    await acceptOne({ sendAt: inDays(1) });
    await acceptOne();
    expect(rung).toEqual([
      [bulkLane(workspaceId), 2],
      [nowLane(workspaceId), 1],
    ]);
  });
});

describe('Emails with a template of megabytes', () => {
  it('share a transaction, because accepting them does not read it', async () => {
    const template = {
      name: 'large',
      content: {
        from: { address: 'a@example.com' },
        replyTo: [],
        parts: { subject: 'Hello', html: 'x'.repeat(4 * 1_048_576) },
        defaults: {},
        required: [],
        unsubscribe: false,
      },
    };
    await new TemplateChanges(database).create(workspaceId, POSTHORN, template);
    rung.length = 0;
    const { from: _from, subject: _subject, html: _html, ...rest } = rawDraft();
    const draft = { ...rest, type: 'templated', template: 'large', variables: { name: 'Ada' } } as const;
    await Promise.all(Array.from({ length: 20 }, () => acceptance.acceptOne(workspaceId, draft)));
    // The lane is rung once for each transaction.
    expect(rung).toEqual([[nowLane(workspaceId), 20]]);
  });
});

describe('Emails of another workspace', () => {
  it('do not wait for all the large ones that came before them', async () => {
    const neighbour = await workspaceBeside(database, workspaceId);
    await new IdentityStore(database).put(neighbour, POSTHORN, {
      kind: 'domain',
      value: 'example.com',
      verified: true,
    });
    rung.length = 0;
    const large = rawDraft({ html: 'x'.repeat(3 * 1_048_576) });
    await Promise.all([
      ...Array.from({ length: 6 }, () => acceptance.acceptOne(workspaceId, large)),
      acceptance.acceptOne(neighbour, rawDraft()),
    ]);
    expect(rung.slice(0, 2).map(([lane]) => lane)).toEqual([nowLane(workspaceId), nowLane(neighbour)]);
    expect(rung).toHaveLength(7);
  });
});

describe('S11: an idempotency key is kept until 30 days after', () => {
  it('the call, for an email that is due now', async () => {
    const idempotencyKey = randomUUID();
    await acceptOne({ idempotencyKey });
    expect(await daysKept(idempotencyKey)).toBeCloseTo(30, 1);
  });

  it('the time of a scheduled email', async () => {
    const idempotencyKey = randomUUID();
    await acceptOne({ idempotencyKey, sendAt: inDays(60) });
    expect(await daysKept(idempotencyKey)).toBeCloseTo(90, 1);
  });

  it('the time of the last email of a batch', async () => {
    const idempotencyKey = randomUUID();
    const sendAts = [inDays(20), inDays(60), inDays(40)];
    await acceptBatch([rawDraft(), ...sendAts.map((sendAt) => rawDraft({ sendAt }))], idempotencyKey);
    expect(await daysKept(idempotencyKey)).toBeCloseTo(90, 1);
  });
});
