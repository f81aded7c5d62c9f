import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, sleep, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { EVERY_LANE, nowLane } from '@posthorn/domain';
import { delayed, rawEmail, scheduledEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';

const stores = await openTestStores();
const otherStores = stores.another();
let acme: WorkspaceId;
let globex: WorkspaceId;

beforeEach(async () => {
  await stores.ask('DELETE FROM outbox');
  await stores.ask('DELETE FROM paused_lanes');
  [acme, globex] = [await stores.openWorkspace(), await stores.openWorkspace()];
});

function idsOf(claimed: readonly { id: string }[]): string[] {
  return claimed.map(({ id }) => id).sort();
}

function uuids(claimed: readonly { id: EmailId }[]): string[] {
  return claimed.map(({ id }) => uuidOf(id));
}

function demand(workspaceId: WorkspaceId, maxRows: number) {
  return { laneId: nowLane(workspaceId), maxRows };
}

/** Claims one email while its row is locked. */
async function claimSlowly(id: string) {
  await stores.ask(`UPDATE emails SET status = 'SCHEDULED', send_at = now() WHERE id = $1`, [id]);
  const holder = await otherStores.database.pool.connect();
  await holder.query('BEGIN');
  await holder.query('SELECT FROM emails WHERE id = $1 FOR UPDATE', [id]);
  const claimed = stores.claim(acme, 1);
  await stores.untilWaiting();
  await sleep(400);
  await holder.query('COMMIT');
  holder.release();
  return claimed;
}

describe('A claim', () => {
  it('returns all that sending needs', async () => {
    const replyTo = [{ address: 'help@example.com', name: 'Help' }];
    const to = { address: 'ada@example.net', name: 'Ada' };
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;
    const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'QQ==', contentId: 'a' }];
    const content = { text: 'plain', previewText: 'peek', attachments };
    const email = rawEmail(acme, { to, replyTo, ...content, bytes: 99, traceparent });
    await stores.accept([email], null);

    const claim = await stores.duringDatabaseTime(() => stores.claim(acme));
    expect(claim.result).toEqual([
      {
        id: email.id,
        laneId: email.laneId,
        claims: 1,
        attempts: 0,
        bytes: 99,
        laneHasMore: false,
        askedAtMs: expect.any(Number),
        withheldFor: null,
        traceparent,
        trackClicks: false,
        trackOpens: false,
        trackingUrl: null,
        unsubscribe: false,
        workspaceId: acme,
        from: email.from,
        to,
        replyTo,
        messageId: email.messageId,
        fellDueAt: email.acceptedAt,
        content: {
          type: 'raw',
          subject: email.subject,
          html: email.html,
          text: 'plain',
          previewText: 'peek',
        },
        attachments,
      },
    ]);
    const row = await stores.rowOf(email.id);
    expect(row).toMatchObject({ state: 'taken', claims: 1, attempts: 0, unanswered: 1 });
    expect(row!.leaseUntil!.getTime()).toBeGreaterThanOrEqual(claim.from.getTime() + 60_000);
    expect(row!.leaseUntil!.getTime()).toBeLessThanOrEqual(claim.to.getTime() + 60_000);
  });

  it('S20: withholds what asks for consent from those who unsubscribed from its workspace, in whatever case, also after they were erased', async () => {
    await stores.ask(
      `INSERT INTO contacts (id, workspace_id, email, properties, status, unsubscribed_at, created_at, updated_at)
       VALUES (gen_random_uuid(), $1, 'ada@example.net', '{}', 'UNSUBSCRIBED', now(), now(), now()),
              (gen_random_uuid(), $1, 'bob@example.net', '{}', 'SUBSCRIBED', NULL, now(), now())`,
      [uuidOf(acme)],
    );
    await stores.ask(
      `INSERT INTO erased_recipients (workspace_id, address_hash, is_unsubscribed)
       VALUES ($1, erased_hash($1, 'gone@example.net'), true)`,
      [uuidOf(acme)],
    );
    const claimedOf = async (workspaceId: WorkspaceId, address: string, unsubscribe: boolean) => {
      await stores.acceptEmails(workspaceId, 1, { to: { address }, unsubscribe });
      return (await stores.claim(workspaceId))[0]!.withheldFor;
    };
    expect(await claimedOf(acme, 'bob@example.net', true)).toBeNull();
    for (const address of ['Ada@example.net', 'Gone@example.net']) {
      expect(await claimedOf(acme, address, true)).toBe('unsubscribed');
      expect(await claimedOf(acme, address, false)).toBeNull();
      expect(await claimedOf(globex, address, true)).toBeNull();
    }
  });

  it('reports whether it left ready rows in the lane', async () => {
    await stores.acceptEmails(acme, 5);
    expect((await stores.claim(acme, 3)).map((email) => email.laneHasMore)).toEqual([true, true, true]);
    expect((await stores.claim(acme, 3)).map((email) => email.laneHasMore)).toEqual([false, false]);
  });

  it('claims rows whose process has died twice in a row one at a time, and as many others as allowed', async () => {
    const ids = await stores.acceptEmails(acme, 5);
    await stores.ask('UPDATE outbox SET unanswered = 2 WHERE subject_id = ANY($1::uuid[])', [
      ids.slice(0, 3).map((id) => uuidOf(id)),
    ]);
    const first = await stores.claim(acme);
    expect(idsOf(first)).toEqual([ids[0]!, ids[3]!, ids[4]!].sort());
    expect(first.every((email) => email.laneHasMore)).toBe(true);
    expect(idsOf(await stores.claim(acme))).toEqual([ids[1]!]);
  });

  it('claims the longest due rows first', async () => {
    const ids = await stores.acceptEmails(acme, 6);
    await stores.ask(`UPDATE outbox SET due_at = due_at - interval '1 day' WHERE subject_id = $1`, [
      uuidOf(ids[5]!),
    ]);
    expect(idsOf(await stores.claim(acme, 3))).toEqual([ids[5]!, ids[0]!, ids[1]!].sort());
  });

  it('begins near the rows claimed last after two that took long, as they do while the dead rows of finished work cannot be removed', async () => {
    const [early, late, ...busy] = (await stores.acceptEmails(acme, 4)).map((id) => uuidOf(id));
    await stores.ask(
      `UPDATE outbox SET state = 'waiting', due_at = due_at - interval '1 minute' WHERE subject_id = $1`,
      [early],
    );
    await stores.ask(`UPDATE outbox SET due_at = now() WHERE subject_id = $1`, [late]);
    for (const id of busy) expect(uuids(await claimSlowly(id))).toEqual([id]);

    await stores.ask(`UPDATE outbox SET state = 'ready' WHERE subject_id = $1`, [early]);
    expect(uuids(await stores.claim(acme))).toEqual([late]);
    expect(uuids(await otherStores.claim(acme))).toEqual([early]);
  });

  it('claims at most the requested number of rows of each lane, and none of others', async () => {
    await stores.acceptEmails(acme, 5);
    await stores.acceptEmails(globex, 5);
    await stores.acceptEmails(await stores.openWorkspace(), 5);
    const claimed = await stores.outbox.claimEmails([demand(acme, 2), demand(globex, 4)], 2 ** 40, 60_000);
    const perLane = Map.groupBy(claimed, ({ laneId }) => laneId);
    expect([...perLane].map(([laneId, rows]) => [laneId, rows.length]).sort()).toEqual(
      [
        [nowLane(acme), 2],
        [nowLane(globex), 4],
      ].sort(),
    );
  });

  it('claims no more bytes of a lane than allowed, for each lane separately', async () => {
    const ids = await stores.acceptEmails(acme, 5, { bytes: 400 });
    const others = await stores.acceptEmails(globex, 2, { bytes: 1_000 });
    const claimed = await stores.outbox.claimEmails([demand(acme, 9), demand(globex, 9)], 1_000, 60_000);
    expect(idsOf(claimed)).toEqual([ids[0]!, ids[1]!, others[0]!].sort());
  });

  it('claims the first row whatever its size, and then no other', async () => {
    const [first] = await stores.acceptEmails(acme, 3, { bytes: 5_000 });
    const claimed = await stores.outbox.claimEmails([demand(acme, 9)], 1_000, 60_000);
    expect(idsOf(claimed)).toEqual([first]);
  });

  it('claims only the first row, although the next ones are empty', async () => {
    const [first] = await stores.acceptEmails(acme, 1, { bytes: 5_000 });
    await stores.acceptEmails(acme, 2, { bytes: 0, acceptedAt: new Date() });
    const claimed = await stores.outbox.claimEmails([demand(acme, 9)], 1_000, 60_000);
    expect(idsOf(claimed)).toEqual([first]);
  });

  it('skips a paused lane, and all lanes while everything is paused', async () => {
    await stores.acceptEmails(acme, 1);
    await stores.acceptEmails(globex, 1);
    const claimAll = () => stores.outbox.claimEmails([demand(acme, 9), demand(globex, 9)], 2 ** 40, 60_000);

    await stores.pause('email', EVERY_LANE);
    expect(await claimAll()).toEqual([]);
    await stores.resume('email', EVERY_LANE);
    await stores.pause('webhook', EVERY_LANE);
    await stores.pause('email', nowLane(acme));
    expect((await claimAll()).map(({ workspaceId }) => workspaceId)).toEqual([globex]);
    await stores.resume('email', nowLane(acme));
    expect((await claimAll()).map(({ workspaceId }) => workspaceId)).toEqual([acme]);
  });

  it('does not claim rows that wait, are taken, or are not emails', async () => {
    await stores.acceptEmails(acme, 2);
    await stores.claim(acme, 1);
    await stores.ask(`UPDATE outbox SET state = 'waiting' WHERE state = 'ready'`);
    await stores.ask(
      `INSERT INTO outbox (subject_id, queue, lane_id, state, due_at) VALUES (gen_random_uuid(), 'webhook', $1, 'ready', now())`,
      [nowLane(acme)],
    );
    expect(await stores.claim(acme)).toEqual([]);
  });

  it('sets a scheduled email to SENT, so that it can no longer be cancelled', async () => {
    const email = scheduledEmail(acme, new Date(Date.now() - 1_000));
    await stores.accept([email], null);
    expect(await stores.statusOf(email.id)).toBe('SCHEDULED');
    await stores.makeReady();
    const [claimed] = await stores.outbox.claimEmails([{ laneId: email.laneId, maxRows: 1 }], 1e9, 60_000);
    expect(claimed!.fellDueAt).toEqual(email.sendAt);
    expect(await stores.statusOf(email.id)).toBe('SENT');
  });

  it('reads when a scheduled email fell due: the same at every attempt, and the last time to which it was moved', async () => {
    const email = scheduledEmail(acme, new Date(Date.now() - 3_600_000));
    await stores.accept([email]);
    await stores.makeReady();
    const movedTo = new Date(Date.now() - 60_000);
    const moving = await otherStores.database.pool.connect();
    await moving.query('BEGIN');
    await moving.query('UPDATE emails SET send_at = $2 WHERE id = $1', [uuidOf(email.id), movedTo]);
    const claiming = stores.outbox.claimEmails([{ laneId: email.laneId, maxRows: 1 }], 1e9, 60_000);
    await stores.untilWaiting();
    await moving.query('COMMIT');
    moving.release();
    const [first] = await claiming;
    await stores.outbox.record([delayed(first!, 0)]);
    await stores.makeReady();
    const [second] = await stores.outbox.claimEmails([{ laneId: email.laneId, maxRows: 1 }], 1e9, 60_000);
    expect([first!.fellDueAt, second!.fellDueAt]).toEqual([movedTo, movedTo]);
  });

  it('adds an entry to the timeline when the previous claim ended without an outcome', async () => {
    const { id } = await stores.acceptAndClaim(acme);
    expect(await stores.timelineOf(id)).toEqual([]);
    await stores.letLeasesEnd([id]);
    await stores.revive();
    const [again] = await stores.claim(acme);

    expect(again).toMatchObject({ id, claims: 2, attempts: 0 });
    expect(await stores.timelineOf(id)).toEqual([
      { kind: 'WORKER_DIED', claims: 1, late: false, duplicatePossible: true },
    ]);
  });

  it('adds no entry to the timeline when the previous claim had an outcome or was given back', async () => {
    const claimed = await stores.acceptAndClaim(acme);
    await stores.outbox.giveBack([claimed]);
    const [again] = await stores.claim(acme);
    await stores.outbox.record([delayed(again!, 0)]);
    await stores.makeReady();
    const laneId = (await stores.rowOf(claimed.id))!.laneId as typeof claimed.laneId;
    await stores.outbox.claimEmails([{ laneId, maxRows: 1 }], 1e9, 60_000);
    expect((await stores.timelineOf(claimed.id)).map(({ kind }) => kind)).toEqual(['DELAYED']);
  });

  it('adds only one entry for a dead process, although the next claim was given back', async () => {
    const { id } = await stores.acceptAndClaim(acme);
    await stores.letLeasesEnd([id]);
    await stores.revive();
    const [again] = await stores.claim(acme);
    await stores.outbox.giveBack([again!]);
    await stores.claim(acme);
    expect((await stores.timelineOf(id)).map(({ kind }) => kind)).toEqual(['WORKER_DIED']);
  });
});

describe('Concurrent claims of two processes', () => {
  it('never get the same row, and together get them all', async () => {
    const ids = await stores.acceptEmails(acme, 300);
    const claims = await Promise.all(
      Array.from({ length: 40 }, (_, n) => (n % 2 === 0 ? stores : otherStores).claim(acme, 10)),
    );
    const claimed = claims.flat();
    expect(new Set(idsOf(claimed)).size).toBe(claimed.length);
    while (claimed.length < 300) {
      const rest = await otherStores.claim(acme, 50);
      expect(rest).not.toEqual([]);
      claimed.push(...rest);
    }
    expect(idsOf(claimed)).toEqual([...ids].sort());
    expect(claimed.every(({ claims }) => claims === 1)).toBe(true);
  });
});
