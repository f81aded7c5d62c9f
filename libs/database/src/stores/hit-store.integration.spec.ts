import { setTimeout } from 'node:timers/promises';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, newId, newUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Hit } from '@posthorn/domain';
import { scheduledEmail, sent } from '../office.fixture.ts';
import { openOffice } from '../open-office.fixture.ts';
import { EmailCountsStore } from './email-counts-store.ts';
import { EmailStore } from './email-store.ts';
import { HitStore } from './hit-store.ts';

const office = await openOffice();
const hits = new HitStore(office.database);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = await office.openWorkspace();
});

/** An email that left a minute ago. */
async function sentEmail(groupBy?: string): Promise<EmailId> {
  const [id] = await office.acceptEmails(acme, 1, groupBy === undefined ? {} : { groupBy });
  await office.outbox.record([sent((await office.claim(acme))[0]!)]);
  await office.ask(`UPDATE emails SET sent_at = now() - interval '1 minute' WHERE id = $1`, [uuidOf(id!)]);
  return id!;
}

function open(emailId: EmailId, change: Partial<Hit> = {}): Hit {
  return { emailId, kind: 'open', at: new Date(), sign: undefined, ...change };
}

function click(emailId: EmailId, url: string, change: Partial<Hit> = {}): Hit {
  return { ...open(emailId, change), kind: 'click', url };
}

async function subscribe(): Promise<void> {
  await office.ask(
    `INSERT INTO webhooks (id, workspace_id, url, events, token) VALUES ($1, $2, 'https://example.com', '{EMAIL_OPENED,EMAIL_CLICKED}', '')`,
    [newUuid(Date.now()), uuidOf(acme)],
  );
}

async function told(): Promise<[string, unknown][]> {
  const rows = await office.ask<{ type: string; payload: string }>(
    'SELECT type, payload FROM events WHERE workspace_id = $1 ORDER BY id',
    [uuidOf(acme)],
  );
  return rows.map(({ type, payload }) => [type, (JSON.parse(payload) as { data: unknown }).data]);
}

async function shown(id: EmailId) {
  const { engagement, timeline } = (await new EmailStore(office.database).find(acme, id))!;
  const facts = timeline.filter(({ kind }) => kind === 'OPENED' || kind === 'CLICKED');
  return { engagement, facts: facts.map(({ kind, detail }) => [kind, detail]) };
}

describe('S17: hits', () => {
  it('are counted apart for people and programs, and told once', async () => {
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
    await hits.record(once);
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

  it('are told once, however many gateways record them at the same moment', async () => {
    await subscribe();
    const ids = [await sentEmail(), await sentEmail(), await sentEmail()];
    const group = ids.flatMap((id) => [open(id), click(id, 'https://a.example/')]);
    await Promise.all(Array.from({ length: 8 }, (_, n) => hits.record(n % 2 ? group : [...group].reverse())));
    expect(await told()).toHaveLength(6);
    for (const id of ids) {
      const { engagement, facts } = await shown(id);
      expect([engagement.opens, engagement.clicks, facts.length]).toEqual([8, 8, 2]);
    }
  });

  it('are read with the timeline of the same moment', async () => {
    const id = await sentEmail();
    const recorder = await office.database.pool.connect();
    await recorder.query('BEGIN; LOCK TABLE email_engagements IN ACCESS EXCLUSIVE MODE');
    const reading = shown(id);
    const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    while ((await office.ask(waiting)).length === 0) await setTimeout(10);
    await recorder.query(
      `INSERT INTO email_engagements (email_id, workspace_id, opens, clicks, machine_opens, machine_clicks)
       VALUES ('${uuidOf(id)}', '${uuidOf(acme)}', 0, 0, 1, 0);
       INSERT INTO email_events (email_id, kind, detail) VALUES ('${uuidOf(id)}', 'OPENED', '{}'); COMMIT`,
    );
    recorder.release();
    const before = await reading;
    expect([before.engagement.machineOpens, before.facts.length]).toEqual([0, 0]);
    const after = await shown(id);
    expect([after.engagement.machineOpens, after.facts.length]).toEqual([1, 1]);
  });

  it('cause nothing when a program made them, by its sign or because it came too soon', async () => {
    await subscribe();
    const id = await sentEmail();
    await office.ask('UPDATE emails SET sent_at = now() WHERE id = $1', [uuidOf(id)]);
    await hits.record([click(id, 'https://a.example/'), open(id, { sign: 'user_agent' })]);
    const { engagement } = await shown(id);
    expect(engagement).toMatchObject({ machineOpens: 1, machineClicks: 1, openedAt: null, clickedAt: null });
    expect(await told()).toEqual([]);
  });

  it('of emails that there are not, or that have not left, are passed over', async () => {
    const email = scheduledEmail(acme, new Date(Date.now() + 3_600_000));
    await office.accept([email]);
    await hits.record([open(email.id), open(newId('trs', Date.now())), open(newId('trs', 0))]);
    expect(await office.count('email_engagements', 'workspace_id = $1', [uuidOf(acme)])).toBe(0);
  });

  it('leave a hundred clicks in a timeline, and all in the count', async () => {
    const id = await sentEmail();
    for (let n = 0; n < 105; n += 1) await hits.record([click(id, `https://example.com/${n}`)]);
    const { engagement, facts } = await shown(id);
    expect([engagement.clicks, facts.length]).toEqual([105, 100]);
  });

  it('are counted by day and group', async () => {
    const [one, other] = [await sentEmail('receipts'), await sentEmail()];
    await hits.record([open(one), click(one, 'https://a.example/'), open(other), open(other)]);
    const counts = new EmailCountsStore(office.database);
    const today = new Date(new Date().setUTCHours(0, 0, 0, 0));
    const wanted = { workspaceId: acme, firstDay: new Date(today.getTime() - 86_400_000), lastDay: today };
    const sum = async (groupBy: string | undefined) =>
      (await counts.countEngagements({ ...wanted, groupBy })).map(({ opened, clicked }) => [opened, clicked]);
    expect(await sum(undefined)).toEqual([[2, 1]]);
    expect(await sum('receipts')).toEqual([[1, 1]]);
    expect(await sum('other')).toEqual([]);
  });
});
