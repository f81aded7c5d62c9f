import { describe, expect, it } from '@jest/globals';
import { newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Role } from '@posthorn/domain';
import { openTestStores } from '../open-test-stores.fixture.ts';
import { InvitationStore } from './invitation-store.ts';
import { newMail, Reception, TESTS } from './members.fixture.ts';
import { UpkeepStore } from './upkeep-store.ts';

const ROUNDS = 15;
const ADA = 'ada@example.net';
const BOB = 'bob@example.net';

const stores = await openTestStores();
const reception = new Reception(stores);
let workspace: WorkspaceId;

/** A workspace of its own for a test, whose people have had no mails of late. */
async function newWorkspace(): Promise<void> {
  workspace = await stores.openWorkspace();
  await stores.ask(`UPDATE invitation_mails SET created_at = now() - interval '25 hours'`);
}

describe('An invitation', () => {
  it('that is accepted by several at once makes one member, one event and one line in the audit log', async () => {
    await newWorkspace();
    const { tokenHash, invitation } = await reception.invite(workspace, ADA);
    const all = await Promise.all(Array.from({ length: 8 }, () => reception.accept(tokenHash)));
    expect(all.every((one) => one!.acceptedAt !== null)).toBe(true);
    const audited = ['member.invited', 'member.joined'];
    expect(await reception.traces(workspace)).toEqual({ members: 1, events: 1, audited });
    expect(await reception.pending(workspace)).toBe(0);
    expect((await reception.membersOf(workspace))[0]).toMatchObject({
      email: ADA,
      name: 'ada',
      role: 'EDITOR',
    });
    expect(invitation.expiresAt.getTime() - invitation.createdAt.getTime()).toBe(7 * 86_400_000);
  });

  it('G10: was created at the time inside its id, by which it is listed, however long its workspace was waited for', async () => {
    const madeAt = Date.now() - 5_000;
    const wanted = {
      id: newId('inv', madeAt),
      email: 'late@example.net',
      name: null,
      role: 'VIEWER',
    } as const;
    const invitation = await reception.changes.create(await stores.openWorkspace(), TESTS, wanted, newMail());
    expect(invitation).toMatchObject({ createdAt: new Date(madeAt) });
  });

  it('is sent again though the clock was set back by more than the time that it has', async () => {
    const created = newId('inv', Date.now() + 8 * 86_400_000);
    const wanted = { id: created, email: 'early@example.net', name: null, role: 'VIEWER' } as const;
    const another = await stores.openWorkspace();
    await reception.changes.create(another, TESTS, wanted, newMail());
    expect(await reception.changes.renew(another, TESTS, created, newMail())).toMatchObject({ id: created });
  });

  it('that is accepted and revoked at the same moment is one of both, wholly', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      await newWorkspace();
      const { tokenHash, invitation } = await reception.invite(workspace, ADA);
      const both = [
        () => reception.changes.revoke(workspace, TESTS, invitation.id),
        () => reception.accept(tokenHash),
      ];
      await Promise.all((round % 2 ? both : both.reverse()).map((one) => one()));
      const { acceptedAt, revokedAt } = (await find(invitation.id))!;
      expect([acceptedAt, revokedAt].filter((time) => time !== null)).toHaveLength(1);
      const [joined, last] = acceptedAt ? [1, 'member.joined'] : [0, 'member.invitation_revoked'];
      const audited = ['member.invited', last];
      expect(await reception.traces(workspace)).toEqual({ members: joined, events: joined, audited });
      outcomes.add(last);
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('that is accepted while it is sent again is accepted, or its old link does nothing', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await newWorkspace();
      const { tokenHash, invitation } = await reception.invite(workspace, ADA);
      const [renewed, accepted] = await Promise.all([
        reception.changes.renew(workspace, TESTS, invitation.id, newMail()),
        reception.accept(tokenHash),
      ]);
      const isAccepted = accepted !== undefined;
      expect(renewed).toMatchObject(isAccepted ? { refused: 'ended', status: 'ACCEPTED' } : { email: ADA });
      expect((await reception.traces(workspace)).members).toBe(isAccepted ? 1 : 0);
      expect(await reception.pending(workspace)).toBe(isAccepted ? 0 : 1);
    }
  });

  it('is one at a time for an address, whatever its letter case, also when several ask at once', async () => {
    await newWorkspace();
    const spellings = [ADA, 'ADA@example.net', 'Ada@example.net', ADA];
    const all = await Promise.all(spellings.map((email) => reception.create(workspace, email)));
    const made = all.filter((one) => !('refused' in one));
    expect(made).toHaveLength(1);
    const refused = { refused: 'is_invited', id: (made[0] as { id: string }).id };
    expect(all.filter((one) => 'refused' in one)).toEqual([refused, refused, refused]);
    expect(await reception.pending(workspace)).toBe(1);
  });

  it('that has expired opens no door, gives way to another one, and can be sent again', async () => {
    await newWorkspace();
    const { tokenHash, invitation } = await reception.invite(workspace, ADA);
    await reception.letExpire(invitation);
    expect(await reception.accept(tokenHash)).toMatchObject({ id: invitation.id, acceptedAt: null });
    const next = await reception.invite(workspace, ADA);
    expect((await find(invitation.id))!.revokedAt).not.toBeNull();
    await reception.letExpire(next.invitation);
    const mail = newMail();
    await reception.changes.renew(workspace, TESTS, next.invitation.id, mail);
    expect(await reception.accept(next.tokenHash)).toBeUndefined();
    expect(await reception.accept(mail.tokenHash)).toMatchObject({ acceptedAt: expect.any(Date) });
  });

  it('is not for who is a member', async () => {
    await newWorkspace();
    const { id } = await reception.join(workspace, ADA);
    expect(await reception.create(workspace, 'ADA@example.net')).toEqual({ refused: 'is_member', id });
  });

  it('that has ended stays as it is', async () => {
    await newWorkspace();
    const { invitation } = await reception.invite(workspace, ADA);
    const revoked = await reception.changes.revoke(workspace, TESTS, invitation.id);
    expect(await reception.changes.revoke(workspace, TESTS, invitation.id)).toEqual(revoked);
    expect(await reception.changes.renew(workspace, TESTS, invitation.id, newMail())).toEqual({
      refused: 'ended',
      status: 'REVOKED',
    });
    const audited = ['member.invited', 'member.invitation_revoked'];
    expect((await reception.traces(workspace)).audited).toEqual(audited);
  });

  it('is not found from another workspace', async () => {
    await newWorkspace();
    const { invitation } = await reception.invite(workspace, ADA);
    const other = await stores.openWorkspace();
    const { changes } = reception;
    expect([
      await new InvitationStore(stores.database).find(other, invitation.id),
      await changes.revoke(other, TESTS, invitation.id),
      await changes.renew(other, TESTS, invitation.id, newMail()),
    ]).toEqual([undefined, undefined, undefined]);
    expect(await reception.pending(workspace)).toBe(1);
  });

  it('is one of a hundred open ones at most, also when several ask at once', async () => {
    await newWorkspace();
    await stores.ask(
      `INSERT INTO invitations (id, workspace_id, email, role, token_hash, created_at, expires_at)
       SELECT gen_random_uuid(), $1::uuid, n || '@example.net', 'VIEWER', sha256(n::text::bytea), now(), now() + interval '1 day'
       FROM   generate_series(1, 98) n`,
      [uuidOf(workspace)],
    );
    const all = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => reception.create(workspace, `${name}@example.net`)),
    );
    expect(all.filter((one) => 'refused' in one)).toEqual([{ refused: 'too_many' }, { refused: 'too_many' }]);
  });

  it('is mailed five times a day at most, and one address gets twenty of all workspaces', async () => {
    await newWorkspace();
    const { invitation } = await reception.invite(workspace, BOB);
    const renew = () => reception.changes.renew(workspace, TESTS, invitation.id, newMail());
    for (let times = 2; times <= 5; times += 1) expect(await renew()).not.toHaveProperty('refused');
    const refused = { refused: 'too_many_mails', retryAfterSeconds: expect.any(Number) };
    expect(await renew()).toEqual(refused);
    expect(((await renew()) as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(86_000);
    for (let others = 1; others <= 15; others += 1)
      await reception.invite(await stores.openWorkspace(), BOB.toUpperCase());
    expect(await reception.create(await stores.openWorkspace(), BOB)).toEqual(refused);
    await stores.ask(`UPDATE invitation_mails SET created_at = now() - interval '25 hours'`);
    expect(await renew()).not.toHaveProperty('refused');
  });
});

describe('Old invitations', () => {
  it('are deleted with their mails, in batches, the others are not', async () => {
    await newWorkspace();
    const upkeep = new UpkeepStore(stores.database);
    const invited = [];
    for (const name of ['a', 'b', 'c', 'd'])
      invited.push(await reception.invite(workspace, `${name}@example.com`));
    await reception.changes.revoke(workspace, TESTS, invited[0]!.invitation.id);
    await stores.ask(
      `UPDATE invitations SET created_at = now() - interval '99 days', expires_at = now() - interval '91 days' WHERE id = ANY($1::uuid[])`,
      [invited.slice(0, 3).map(({ invitation }) => uuidOf(invitation.id))],
    );
    expect([await upkeep.expireInvitations(90, 2), await upkeep.expireInvitations(90, 2)]).toEqual([2, 1]);
    const where = `workspace_id = '${uuidOf(workspace)}'`;
    expect(await stores.count('invitations', where)).toBe(1);
    expect(await stores.count('invitation_mails', where)).toBe(1);
  });
});

describe('A member', () => {
  it('is one person in all workspaces, also who joins several at once', async () => {
    const workspaces = await Promise.all([1, 2, 3, 4].map(() => stores.openWorkspace()));
    const invited = await Promise.all(
      workspaces.map((each, n) => reception.invite(each, n % 2 ? 'carl@example.net' : 'Carl@Example.net')),
    );
    await Promise.all(invited.map(({ tokenHash }) => reception.accept(tokenHash)));
    const members = await Promise.all(workspaces.map((each) => reception.membersOf(each)));
    expect(new Set(members.flat().map(({ id }) => id)).size).toBe(1);
    expect(members.flat()).toHaveLength(4);
  });

  it.each<[string, (id: Parameters<Reception['members']['remove']>[2]) => Promise<unknown>]>([
    ['removed', (id) => reception.members.remove(workspace, TESTS, id)],
    ['made a VIEWER', (id) => reception.members.setRole(workspace, TESTS, id, 'VIEWER')],
  ])('who is the last editor is not %s, also when both of two are at once', async (_, change) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await newWorkspace();
      const ids = [
        (await reception.join(workspace, ADA)).id,
        (await reception.join(workspace, 'dora@example.net')).id,
      ];
      await reception.join(workspace, 'viewer@example.net', 'VIEWER');
      const both = await Promise.all(ids.map((id) => change(id)));
      expect(both.filter((one) => 'refused' in (one as object))).toEqual([{ refused: 'last_editor' }]);
      const roles = (await reception.membersOf(workspace)).map(({ role }) => role);
      expect(roles.filter((role) => role === 'EDITOR')).toHaveLength(1);
    }
  });

  it('who is the last of all can be removed, and invited again', async () => {
    await newWorkspace();
    const { id } = await reception.join(workspace, ADA);
    expect(await reception.members.remove(workspace, TESTS, id)).toMatchObject({ id, email: ADA });
    expect(await reception.members.remove(workspace, TESTS, id)).toBeUndefined();
    expect((await reception.join(workspace, ADA)).id).toBe(id);
  });

  it('gets another role, which is audited; the same role is no change', async () => {
    await newWorkspace();
    await reception.join(workspace, BOB);
    const { id } = await reception.join(workspace, ADA);
    for (const role of ['VIEWER', 'VIEWER'] satisfies Role[])
      expect(await reception.members.setRole(workspace, TESTS, id, role)).toMatchObject({ id, role });
    expect(await reception.members.find(workspace, id)).toMatchObject({ role: 'VIEWER' });
    expect((await reception.traces(workspace)).audited.at(-1)).toBe('member.updated');
    expect((await reception.traces(workspace)).audited).toHaveLength(5);
  });

  it('is not found from another workspace', async () => {
    await newWorkspace();
    const { id } = await reception.join(workspace, ADA);
    const other = await stores.openWorkspace();
    expect([
      await reception.members.find(other, id),
      await reception.members.setRole(other, TESTS, id, 'VIEWER'),
      await reception.members.remove(other, TESTS, id),
      await reception.members.find(workspace, newId('usr', Date.now())),
    ]).toEqual([undefined, undefined, undefined, undefined]);
    expect(await reception.members.find(workspace, id)).toMatchObject({ role: 'EDITOR' });
  });

  it('is listed by when they joined, in pages that miss none', async () => {
    await newWorkspace();
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.org`);
    for (const email of names) await reception.join(workspace, email);
    const page = { limit: 2, sort: 'createdAt.asc' } as const;
    const first = await reception.members.list(workspace, page);
    const startAt = `mbr_${first.startAt}` as NonNullable<
      Parameters<Reception['members']['list']>[1]['startAt']
    >;
    const second = await reception.members.list(workspace, { ...page, limit: 3, startAt });
    expect([...first.items, ...second.items].map(({ email }) => email)).toEqual(names);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  });
});

function find(id: Parameters<InvitationStore['find']>[1]): ReturnType<InvitationStore['find']> {
  return new InvitationStore(stores.database).find(workspace, id);
}
