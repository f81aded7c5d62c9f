import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, newId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Hit, POSTHORN } from '@posthorn/domain';
import { COMMIT_SENT, FaultProxy } from '@posthorn/testing';
import { faultOf } from '../../faults/faults.ts';
import { TestStores, scheduledEmail, sent } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { COUNT_HITS } from '../../sql/hits.ts';
import { EmailCountsStore } from './email-counts-store.ts';
import { EmailStore } from './email-store.ts';
import { ErasureStore } from '../retention/erasure-store.ts';
import { HitStore } from './hit-store.ts';

const stores = await openTestStores();
const hits = new HitStore(stores.database);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = await stores.openWorkspace();
});

/** An email that was sent a minute ago. */
async function sentEmail(groupBy?: string): Promise<EmailId> {
  const [id] = await stores.acceptEmails(acme, 1, groupBy === undefined ? {} : { groupBy });
  await stores.outbox.record([sent((await stores.claim(acme))[0]!)]);
  await stores.ask(`UPDATE emails SET sent_at = now() - interval '1 minute' WHERE id = $1`, [uuidOf(id!)]);
  return id!;
}

function open(emailId: EmailId, change: Partial<Hit> = {}): Hit {
  return { emailId, kind: 'open', at: new Date(), sign: undefined, ...change };
}

function click(emailId: EmailId, url: string, change: Partial<Hit> = {}): Hit {
  return { ...open(emailId, change), kind: 'click', url };
}

async function subscribe(): Promise<void> {
  await stores.ask(
    `INSERT INTO webhooks (id, workspace_id, url, events, token) VALUES ($1, $2, 'https://example.com', '{EMAIL_OPENED,EMAIL_CLICKED}', '')`,
    [newUuid(Date.now()), uuidOf(acme)],
  );
}

async function told(): Promise<[string, unknown][]> {
  const rows = await stores.ask<{ type: string; payload: string }>(
    'SELECT type, payload FROM events WHERE workspace_id = $1 ORDER BY id',
    [uuidOf(acme)],
  );
  return rows.map(({ type, payload }) => [type, (JSON.parse(payload) as { data: unknown }).data]);
}

async function shown(id: EmailId) {
  const { engagement, timeline } = (await new EmailStore(stores.database).find(acme, id))!;
  const facts = timeline.filter(({ kind }) => kind === 'OPENED' || kind === 'CLICKED');
  return { engagement, facts: facts.map(({ kind, detail }) => [kind, detail]) };
}

describe('S17: hits', () => {
  it('are counted separately for people and programs, and reported once', async () => {
    await subscribe();
    const id = await sentEmail();
    const once = [
      open(id),
      open(id, { sign: 'prefetch' }),
      click(id, 'https://a.example/'),
      click(id, 'https://b.example/'),
      click(id, 'https://a.example/', { sign: 'user_agent' }),
    ];
    await hits.record(once);
    await hits.record([...once]);
    const { engagement, facts } = await shown(id);
    expect(engagement).toEqual({
      opens: 2,
      clicks: 4,
      machineOpens: 2,
      machineClicks: 2,
      openedAt: once[0]!.at,
      clickedAt: once[2]!.at,
    });
    expect(facts).toHaveLength(5);
    expect(facts).toEqual(
      expect.arrayContaining([
        ['OPENED', { by: 'person' }],
        ['OPENED', { by: 'machine', sign: 'prefetch' }],
        ['CLICKED', { by: 'person', url: 'https://a.example/' }],
        ['CLICKED', { by: 'person', url: 'https://b.example/' }],
        ['CLICKED', { by: 'machine', sign: 'user_agent', url: 'https://a.example/' }],
      ]),
    );
    expect((await told()).map(([type]) => type).sort()).toEqual(['EMAIL_CLICKED', 'EMAIL_OPENED']);
    const email = expect.objectContaining({ id, status: 'SENT', to: 'ada@example.net' });
    expect(Object.fromEntries(await told())).toEqual({
      EMAIL_OPENED: { email },
      EMAIL_CLICKED: { email, url: 'https://a.example/' },
    });
  });

  it('have the time of the first, in whatever order gateways record them', async () => {
    const id = await sentEmail();
    const [first, later] = [new Date(Date.now() - 20_000), new Date(Date.now() - 10_000)];
    const url = 'https://a.example/';
    await hits.record([open(id, { at: later }), click(id, url, { at: later })]);
    await hits.record([open(id, { at: first }), click(id, url, { at: first })]);
    expect((await shown(id)).engagement).toMatchObject({ openedAt: first, clickedAt: first });
  });

  it('are reported once, however many gateways record them concurrently', async () => {
    await subscribe();
    const ids = [await sentEmail(), await sentEmail(), await sentEmail()];
    const group = ids.flatMap((id) => [open(id), click(id, 'https://a.example/')]);
    await Promise.all(
      Array.from({ length: 8 }, (_, n) => hits.record(n % 2 ? [...group] : group.toReversed())),
    );
    expect(await told()).toHaveLength(6);
    for (const id of ids) {
      const { engagement, facts } = await shown(id);
      expect([engagement.opens, engagement.clicks, facts.length]).toEqual([8, 8, 2]);
    }
  });

  it('are counted once when the answer to their COMMIT is lost, whether the server received it or not', async () => {
    await subscribe();
    const proxy = await FaultProxy.before(stores.url);
    const victim = new TestStores(proxy.urlFor(stores.url), 2);
    const recorded = new HitStore(victim.database);
    const group = [open(await sentEmail()), click(await sentEmail(), 'https://a.example/')];
    const failed = async (cut: Promise<void>): Promise<string> => {
      const attempt = recorded.record(group).catch((thrown: unknown) => thrown);
      await cut;
      return faultOf(await attempt);
    };
    expect(await failed(proxy.cutBefore(COMMIT_SENT))).toBe('lost');
    expect(await failed(proxy.cutAfter(COMMIT_SENT))).toBe('lost');
    await hits.record([open(group[0]!.emailId)]); // another gateway's
    await recorded.record(group);
    await victim.close();
    await proxy.close();

    const engagements = await Promise.all(
      group.map(async ({ emailId }) => (await shown(emailId)).engagement),
    );
    expect(engagements.map(({ opens, clicks }) => [opens, clicks])).toEqual([
      [2, 0],
      [0, 1],
    ]);
    expect(await told()).toHaveLength(2);
  });

  it('are counted when their transaction was lost in a crash of the database', async () => {
    const email = await sentEmail();
    const row = { email_id: uuidOf(email), workspace_id: uuidOf(acme), opens: 1, clicks: 0 };
    const values = [JSON.stringify([{ ...row, machine_opens: 0, machine_clicks: 0 }]), '4000000000'];
    for (const opens of [1, 2])
      expect((await stores.database.pool.query(COUNT_HITS, values)).rows).toMatchObject([{ opens }]);
  });

  it('leave nothing behind when their email is erased concurrently', async () => {
    await subscribe();
    const email = await sentEmail();
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN; LOCK TABLE events IN ACCESS EXCLUSIVE MODE');
    const recorded = hits.record([open(email), click(email, 'https://a.example/')]);
    await stores.untilWaiting();
    const erasures = new ErasureStore(stores.database);
    const person = { id: newId('ers', Date.now()), address: 'ada@example.net', isSuppressing: false };
    await erasures.begin(acme, POSTHORN, person);
    const erased = erasures.eraseGroup();
    await Promise.race([erased, stores.untilWaiting(2)]);
    await holder.query('COMMIT');
    holder.release();
    await recorded;
    await erased;
    expect(await stores.count('emails', 'id = $1', [uuidOf(email)])).toBe(0);
    for (const table of ['email_engagements', 'email_events'])
      expect([table, await stores.count(table, 'email_id = $1', [uuidOf(email)])]).toEqual([table, 0]);
  });

  it('are read consistently with the timeline', async () => {
    const id = await sentEmail();
    const recorder = await stores.database.pool.connect();
    await recorder.query('BEGIN; LOCK TABLE email_engagements IN ACCESS EXCLUSIVE MODE');
    const reading = shown(id);
    await stores.untilWaiting();
    await recorder.query(
      `INSERT INTO email_engagements (email_id, workspace_id, opens, clicks, machine_opens, machine_clicks)
       VALUES ('${uuidOf(id)}', '${uuidOf(acme)}', 0, 0, 1, 0);
       INSERT INTO email_events (email_id, kind, detail) VALUES ('${uuidOf(id)}', 'OPENED', '{}'); COMMIT`,
    );
    recorder.release();
    const meanwhile = await reading;
    expect(meanwhile.engagement.machineOpens).toBe(meanwhile.facts.length);
    const after = await shown(id);
    expect([after.engagement.machineOpens, after.facts.length]).toEqual([1, 1]);
  });

  it('cause nothing when a program made them, by its sign or because it came too soon', async () => {
    await subscribe();
    const id = await sentEmail();
    const at = new Date();
    await stores.ask('UPDATE emails SET sent_at = $2 WHERE id = $1', [uuidOf(id), at]);
    await hits.record([click(id, 'https://a.example/', { at }), open(id, { sign: 'user_agent' })]);
    const { engagement } = await shown(id);
    expect(engagement).toMatchObject({ machineOpens: 1, machineClicks: 1, openedAt: null, clickedAt: null });
    expect(await told()).toEqual([]);
  });

  it('of emails that do not exist, or were not sent, are ignored', async () => {
    const email = scheduledEmail(acme, new Date(Date.now() + 3_600_000));
    await stores.accept([email]);
    const unsent = [email.id, newId('trs', Date.now()), newId('trs', 0)];
    for (const status of ['SUPPRESSED', 'CANCELLED']) {
      const [id] = await stores.acceptEmails(acme, 1);
      await stores.ask('UPDATE emails SET status = $2::email_status WHERE id = $1', [uuidOf(id!), status]);
      unsent.push(id!);
    }
    await hits.record(unsent.map((id) => open(id)));
    expect(await stores.count('email_engagements', 'workspace_id = $1', [uuidOf(acme)])).toBe(0);
  });

  it('are at most a hundred clicks in a timeline, but all are counted', async () => {
    const id = await sentEmail();
    const clicks = Array.from({ length: 105 }, (_, n) => click(id, `https://example.com/${n}`));
    for (const group of [clicks.slice(0, 60), clicks.slice(60)]) await hits.record(group);
    const { engagement, facts } = await shown(id);
    expect([engagement.clicks, facts.length]).toEqual([105, 100]);
  });

  it('are counted by day and group', async () => {
    const [one, other] = [await sentEmail('receipts'), await sentEmail()];
    await hits.record([open(one), click(one, 'https://a.example/'), open(other), open(other)]);
    const counts = new EmailCountsStore(stores.database);
    const today = new Date(new Date().setUTCHours(0, 0, 0, 0));
    const wanted = { workspaceId: acme, firstDay: new Date(today.getTime() - 86_400_000), lastDay: today };
    const sum = async (groupBy: string | undefined) =>
      (await counts.countEngagements({ ...wanted, groupBy })).map(({ opened, clicked }) => [opened, clicked]);
    expect(await sum(undefined)).toEqual([[2, 1]]);
    expect(await sum('receipts')).toEqual([[1, 1]]);
    expect(await sum('other')).toEqual([]);
  });
});
