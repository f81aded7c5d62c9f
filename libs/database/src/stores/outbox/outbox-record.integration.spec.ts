import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { eventLane, nowLane, retryLaneOf } from '@posthorn/domain';
import { delayed, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { EmailStore } from '../emails/email-store.ts';
import type { ClaimedEmail, EmailOutcome } from './claimed-email.ts';
import { OutboxStore } from './outbox-store.ts';

const stores = await openTestStores();
let acme: WorkspaceId;
let email: ClaimedEmail;

beforeEach(async () => {
  acme = await stores.openWorkspace();
  email = await stores.acceptAndClaim(acme);
});

/** Lets the lease end, the clock revive the row, and another process claim it. */
async function loseToAnother(): Promise<ClaimedEmail> {
  await stores.letLeasesEnd([email.id]);
  await stores.revive();
  const [again] = await stores.claim(acme);
  return again!;
}

describe('An outcome', () => {
  it.each<Pick<EmailOutcome, 'kind' | 'status'> & { becomes: string }>([
    { kind: 'SENT', status: 'SENT', becomes: 'SENT' },
    { kind: 'BOUNCED', status: 'BOUNCED', becomes: 'BOUNCED' },
    { kind: 'FAILED', status: 'FAILED', becomes: 'FAILED' },
  ])(
    'that is final ($kind) ends the work and is the state of the email',
    async ({ kind, status, becomes }) => {
      expect(await stores.outbox.record([{ ...sent(email), kind, status }])).toEqual([true]);
      expect(await stores.rowOf(email.id)).toBeUndefined();
      expect(await stores.statusOf(email.id)).toBe(becomes);
      expect(await stores.timelineOf(email.id)).toEqual([
        { kind, claims: 1, late: false, duplicatePossible: false },
      ]);
      const record = await new EmailStore(stores.database).find(acme, email.id);
      expect(record!.sentAt === null).toBe(kind !== 'SENT');
      expect(record!.timeline[0]!.detail).toEqual({ attempt: 1 });
      expect(record!.nextAttemptAt).toBeNull();
    },
  );

  it.each<Pick<EmailOutcome, 'kind' | 'duplicatePossible'>>([
    { kind: 'DELAYED', duplicatePossible: false },
    { kind: 'REPLY_LOST', duplicatePossible: true },
  ])(
    'that is not final ($kind) lets the email wait for its next attempt',
    async ({ kind, duplicatePossible }) => {
      const outcome = { ...delayed(email, 90_000), kind, duplicatePossible };
      const recorded = await stores.duringDatabaseTime(() => stores.outbox.record([outcome]));
      expect(recorded.result).toEqual([true]);
      const row = await stores.rowOf(email.id);
      expect(row).toMatchObject({
        state: 'waiting',
        laneId: retryLaneOf(nowLane(acme)),
        claims: 1,
        attempts: 1,
        unanswered: 0,
        leaseSeconds: null,
      });
      expect(row!.dueAt.getTime()).toBeGreaterThanOrEqual(recorded.from.getTime() + 90_000);
      expect(row!.dueAt.getTime()).toBeLessThanOrEqual(recorded.to.getTime() + 90_000);
      expect(await stores.statusOf(email.id)).toBe('SENT');
      expect(await stores.timelineOf(email.id)).toEqual([
        { kind, claims: 1, late: false, duplicatePossible },
      ]);
      const record = await new EmailStore(stores.database).find(acme, email.id);
      expect(record!.nextAttemptAt).toEqual(row!.dueAt);
    },
  );

  it('S19: that is a hard bounce suppresses the recipient in the same statement, unless the row was claimed again', async () => {
    const bounced = {
      ...sent(email),
      kind: 'BOUNCED',
      status: 'BOUNCED',
      suppression: 'HARD_BOUNCE',
    } as const;
    const isListed = (): Promise<number> =>
      stores.count('suppressions', 'workspace_id = $1 AND email = $2', [uuidOf(acme), email.to.address]);
    const again = await loseToAnother();
    await stores.outbox.record([bounced]);
    expect([await isListed(), again.withheldFor]).toEqual([0, null]);
    await stores.outbox.record([{ ...bounced, claims: again.claims }]);
    expect(await isListed()).toBe(1);
    const next = await stores.acceptAndClaim(acme);
    expect(next.withheldFor).toBe('hard_bounce');
    expect(await stores.outbox.askWhyWithheld([next.id])).toEqual(['hard_bounce']);
    expect(await stores.outbox.record([{ ...bounced, id: next.id, claims: next.claims }])).toEqual([true]);
    expect(await isListed()).toBe(1);
  });

  it('has the same effect when it is recorded twice', async () => {
    await stores.outbox.record([sent(email)]);
    expect(await stores.outbox.record([sent(email)])).toEqual([false]);
    expect(await stores.timelineOf(email.id)).toEqual([
      { kind: 'SENT', claims: 1, late: false, duplicatePossible: false },
    ]);
  });

  it('with a retry, recorded twice, counts one attempt and does not move the next one', async () => {
    await stores.outbox.record([delayed(email, 60_000)]);
    expect(await stores.outbox.record([delayed(email, 3_600_000)])).toEqual([false]);
    const row = await stores.rowOf(email.id);
    expect(row).toMatchObject({ attempts: 1, claims: 1 });
    expect(row!.dueInSeconds).toBeLessThanOrEqual(60);
    expect(await stores.timelineOf(email.id)).toHaveLength(1);
  });

  it('is recorded once from several connections concurrently', async () => {
    const told = await Promise.all(Array.from({ length: 6 }, () => stores.outbox.record([delayed(email)])));
    expect(told.flat().filter(Boolean)).toHaveLength(1);
    expect(await stores.rowOf(email.id)).toMatchObject({ attempts: 1 });
    expect(await stores.timelineOf(email.id)).toHaveLength(1);
  });

  it('still counts when the lease has ended and the row was not claimed again', async () => {
    await stores.letLeasesEnd([email.id]);
    await stores.revive();
    expect(await stores.outbox.record([sent(email)])).toEqual([true]);
    expect(await stores.rowOf(email.id)).toBeUndefined();
  });

  it.each([
    { outcome: 'a final one', of: sent },
    { outcome: 'one that is tried again', of: delayed },
  ])('of an earlier claim ($outcome) is recorded as late, and changes nothing', async ({ of }) => {
    await loseToAnother();
    const before = await stores.rowOf(email.id);
    expect(await stores.outbox.record([of(email)])).toEqual([false]);

    expect(await stores.rowOf(email.id)).toMatchObject({
      ...before,
      dueInSeconds: expect.any(Number),
      leaseSeconds: expect.any(Number),
    });
    expect(await stores.statusOf(email.id)).toBe('SENT');
    const late = (await stores.timelineOf(email.id)).filter((fact) => fact.late);
    expect(late).toEqual([{ kind: of(email).kind, claims: 1, late: true, duplicatePossible: true }]);
  });

  it.each([
    { outcome: 'a final one', of: sent },
    { outcome: 'one that is tried again', of: delayed },
  ])('that waits while its row is claimed again ($outcome) is late, and changes nothing', async ({ of }) => {
    const client = await stores.another().database.pool.connect();
    await client.query('BEGIN');
    await client.query('UPDATE outbox SET claims = claims + 1 WHERE subject_id = $1', [uuidOf(email.id)]);
    const recording = stores.outbox.record([of(email)]);
    await stores.untilWaiting();
    await client.query('COMMIT');
    client.release();
    expect(await recording).toEqual([false]);
    expect(await stores.rowOf(email.id)).toMatchObject({ state: 'taken', claims: 2, attempts: 0 });
  });

  it('of a claim that a restored database does not know is late, and the next claim of the same number is recorded as well', async () => {
    await stores.outbox.giveBack([email]);
    const ofLostTime = { ...email, claims: 2 };
    for (let times = 0; times < 2; times += 1)
      expect(await stores.outbox.record([sent(ofLostTime)])).toEqual([false]);
    const [again] = await stores.claim(acme);
    expect(again).toMatchObject({ id: email.id, claims: 2 });
    expect(await stores.outbox.record([sent(again!)])).toEqual([true]);
    expect(await stores.timelineOf(email.id)).toMatchObject([
      { kind: 'SENT', late: true, duplicatePossible: true },
      { kind: 'SENT', claims: 2, late: false, duplicatePossible: false },
    ]);
  });

  it('is late when the email was given up meanwhile', async () => {
    await stores.letLeasesEnd([email.id]);
    await stores.revive({ maxUnanswered: 1 });
    expect(await stores.outbox.record([sent(email)])).toEqual([false]);
    expect(await stores.statusOf(email.id)).toBe('FAILED');
    expect((await stores.timelineOf(email.id)).find((fact) => fact.late)?.kind).toBe('SENT');
  });

  it('that is late leaves nothing of an email that is being removed at that moment', async () => {
    await stores.ask('DELETE FROM outbox WHERE subject_id = $1', [uuidOf(email.id)]);
    const removing = await stores.database.pool.connect();
    await removing.query('BEGIN');
    await removing.query('DELETE FROM emails WHERE id = $1', [uuidOf(email.id)]);
    const recorded = await stores.outbox.record([sent(email)]);
    await removing.query('COMMIT');
    removing.release();
    expect(recorded).toEqual([false]);
    expect(await stores.timelineOf(email.id)).toEqual([]);
  });
});

describe('Outcomes recorded together', () => {
  it('appear in the timeline in the given order', async () => {
    const ids = await stores.acceptEmails(acme, 40);
    const claimed = await stores.claim(acme);
    expect(claimed).toHaveLength(ids.length);
    const stale = claimed.map((one, n) => (n % 3 === 0 ? { ...sent(one), claims: 7 } : sent(one)));
    expect(await stores.outbox.record(stale)).toEqual(stale.map(({ claims }) => claims === 1));
  });

  it('may be of two claims of one email: each is compared with its own claim', async () => {
    const again = await loseToAnother();
    expect(await stores.outbox.record([sent(email), sent(again)])).toEqual([false, true]);
    expect((await stores.timelineOf(email.id)).filter(({ kind }) => kind === 'SENT')).toEqual([
      { kind: 'SENT', claims: 1, late: true, duplicatePossible: true },
      { kind: 'SENT', claims: 2, late: false, duplicatePossible: false },
    ]);
  });

  it('do not deadlock, in whatever order they are recorded', async () => {
    await stores.acceptEmails(acme, 30);
    const claimed = await stores.claim(acme);
    const orders = [
      claimed,
      claimed.toReversed(),
      claimed.toSorted((a, b) => (a.messageId < b.messageId ? 1 : -1)),
    ];
    // Each from several connections: current ones conflict in the rows, late ones in the unique index of the timeline.
    const late = claimed.map((one) => ({ ...one, claims: 9 }));
    const groups = orders.flatMap((order) => [order.map(sent), late.map(sent), late.toReversed().map(sent)]);
    const told = await Promise.all(groups.map((group) => stores.outbox.record(group)));
    expect(told.flat().filter(Boolean)).toHaveLength(30);
  });

  it('change nothing when one of them is refused by the database', async () => {
    await stores.acceptEmails(acme, 1);
    const [other] = await stores.claim(acme);
    const refused = { ...sent(other!), detail: ['not an object'] };
    await expect(stores.outbox.record([sent(email), refused])).rejects.toMatchObject({ code: '23514' });
    expect(await stores.rowOf(email.id)).toMatchObject({ state: 'taken' });
    expect(await stores.timelineOf(email.id)).toEqual([]);
  });
});

describe('The events of emails', () => {
  const eventsOf = (id: EmailId) =>
    stores.ask<{ type: string; status: string; keys: string }>(
      `SELECT type, payload::json->'data'->'email'->>'status' AS status, payload FROM events
       WHERE payload::json->'data'->'email'->>'id' = $1 ORDER BY xid`,
      [id],
    );
  /** The recorded events, in order. */
  const toldBeside = async (id: EmailId): Promise<object[]> => {
    const rows = await stores.ask<{ data: { email: object } }>(
      `SELECT payload::json -> 'data' AS data FROM events
       WHERE payload::json->'data'->'email'->>'id' = $1 ORDER BY created_at`,
      [id],
    );
    return rows.map(({ data: { email: _email, ...beside } }) => beside);
  };
  const subscribe = (workspaceId: WorkspaceId, events: string[]) =>
    stores.ask(
      `INSERT INTO webhooks (id, workspace_id, url, events, token) VALUES (gen_random_uuid(), $1, 'https://example.com', $2, '')`,
      [uuidOf(workspaceId), events],
    );
  const dueEvents = (workspaceId: WorkspaceId) =>
    stores.count('outbox', `queue = 'event' AND lane_id = $1`, [eventLane(workspaceId)]);

  it('W12: are recorded with the outcome, for the subscribed webhooks, and their lane is rung', async () => {
    const workspace = await stores.openWorkspace();
    await subscribe(workspace, ['EMAIL_BOUNCED', 'EMAIL_DELAYED']);
    await subscribe(workspace, ['EMAIL_BOUNCED']);
    await subscribe(acme, ['EMAIL_BOUNCED', 'EMAIL_DELAYED']);
    const rung: string[] = [];
    const outbox = new OutboxStore({ ...stores.database, onEventsDue: (laneIds) => rung.push(...laneIds) });
    const email = await stores.acceptAndClaim(workspace);
    const reply = { code: 550, enhancedCode: '5.1.1', text: 'No such user' };
    await outbox.record([{ ...delayed(email), kind: 'REPLY_LOST', detail: { error: 'hung up' } }]);
    await stores.ask(`UPDATE outbox SET state = 'ready' WHERE subject_id = $1`, [uuidOf(email.id)]);
    const [again] = await stores.outbox.claimEmails(
      [{ laneId: retryLaneOf(nowLane(workspace)), maxRows: 1 }],
      1e9,
      60_000,
    );
    const detail = { class: 'unknown_user', reply, relay: 'relay:25', attempt: 2 };
    await outbox.record([{ ...sent(again!), kind: 'BOUNCED', status: 'BOUNCED', detail }]);
    expect(await toldBeside(email.id)).toEqual([{}, { class: 'unknown_user', reply }]);
    expect(await eventsOf(email.id)).toMatchObject([
      { type: 'EMAIL_DELAYED', status: 'SENT' },
      { type: 'EMAIL_BOUNCED', status: 'BOUNCED' },
    ]);
    expect([await dueEvents(workspace), await dueEvents(acme)]).toEqual([2, 0]);
    const heardBy = `SELECT FROM events e JOIN webhooks w ON w.id = ANY (e.webhook_ids) WHERE w.workspace_id = $1`;
    expect(await stores.ask(heardBy, [uuidOf(workspace)])).toHaveLength(3);
    expect(await stores.ask(heardBy, [uuidOf(acme)])).toEqual([]);
    expect(rung).toEqual([eventLane(workspace), eventLane(workspace)]);
  });

  it('W12: of a group are each recorded for the workspace of their email only', async () => {
    const emails: ClaimedEmail[] = [];
    for (const workspace of [await stores.openWorkspace(), await stores.openWorkspace()]) {
      await subscribe(workspace, ['EMAIL_SENT']);
      emails.push(await stores.acceptAndClaim(workspace));
    }
    await stores.outbox.record(emails.map((claimed) => sent(claimed)));
    for (const { id, workspaceId } of emails)
      expect(
        await stores.ask(
          `SELECT payload::json->'data'->'email'->>'id' AS id FROM events WHERE workspace_id = $1`,
          [uuidOf(workspaceId)],
        ),
      ).toEqual([{ id }]);
  });

  it('W12: are not recorded where no webhook is subscribed, or for an outcome that changes no state', async () => {
    const [quiet, loud] = [await stores.openWorkspace(), await stores.openWorkspace()];
    await subscribe(loud, ['EMAIL_SENT', 'EMAIL_FAILED']);
    const [unheard, late] = [await stores.acceptAndClaim(quiet), await stores.acceptAndClaim(loud)];
    await stores.outbox.giveBack([late]);
    await stores.claim(loud);
    await stores.outbox.record([sent(unheard), sent(late)]);
    expect(await eventsOf(unheard.id)).toEqual([]);
    expect(await eventsOf(late.id)).toEqual([]);
    await stores.ask(`UPDATE outbox SET unanswered = 5 WHERE subject_id = $1`, [uuidOf(late.id)]);
    await stores.letLeasesEnd([late.id]);
    await stores.revive({ graceMs: 1_000 });
    expect(await eventsOf(late.id)).toMatchObject([{ type: 'EMAIL_FAILED', status: 'FAILED' }]);
    expect(await toldBeside(late.id)).toEqual([{ reason: 'worker_died' }]);
  });

  it('N5, W12: are all recorded for a workspace that polls the feed; those that no webhook is subscribed to are not due', async () => {
    const [polls, quiet] = [await stores.openWorkspace(), await stores.openWorkspace()];
    await stores.ask('UPDATE workspaces SET records_all_events = true WHERE id = $1', [uuidOf(polls)]);
    const rung: string[] = [];
    const outbox = new OutboxStore({ ...stores.database, onEventsDue: (laneIds) => rung.push(...laneIds) });
    const bounce = (claimed: ClaimedEmail): EmailOutcome => ({
      ...sent(claimed),
      kind: 'BOUNCED',
      status: 'BOUNCED',
    });
    const [first, second, unheard] = [
      await stores.acceptAndClaim(polls),
      await stores.acceptAndClaim(polls),
      await stores.acceptAndClaim(quiet),
    ];
    await outbox.record([sent(first), bounce(second), sent(unheard)]);
    expect(await eventsOf(first.id)).toMatchObject([{ type: 'EMAIL_SENT', status: 'SENT' }]);
    expect(await eventsOf(second.id)).toMatchObject([{ type: 'EMAIL_BOUNCED', status: 'BOUNCED' }]);
    expect(await eventsOf(unheard.id)).toEqual([]);
    expect([await dueEvents(polls), rung]).toEqual([0, []]);

    await subscribe(polls, ['EMAIL_BOUNCED']);
    const [third, fourth] = [await stores.acceptAndClaim(polls), await stores.acceptAndClaim(polls)];
    await outbox.record([sent(third), bounce(fourth)]);
    const due = `SELECT type, cardinality(webhook_ids) AS webhooks FROM events
                 WHERE workspace_id = $1 AND id IN (SELECT subject_id FROM outbox)`;
    expect(await stores.ask(due, [uuidOf(polls)])).toEqual([{ type: 'EMAIL_BOUNCED', webhooks: 1 }]);
    expect(await eventsOf(third.id)).toMatchObject([{ type: 'EMAIL_SENT' }]);
    expect(rung).toEqual([eventLane(polls)]);
  });
});
