import { describe, expect, it } from '@jest/globals';
import { newId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Role } from '@posthorn/domain';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import { InvitationStore } from './invitation-store.ts';
import { type Invited, newMail, MemberTestStores, TESTS } from './members.fixture.ts';
import { UpkeepStore } from '../retention/upkeep-store.ts';

const ROUNDS = 15;
const ADA = 'ada@example.net';
const BOB = 'bob@example.net';

const stores = await openTestStores();
const memberStores = new MemberTestStores(stores);
let workspace: WorkspaceId;

/** A separate workspace for a test, without recent mails to its members. */
async function newWorkspace(): Promise<void> {
  workspace = await stores.openWorkspace();
  await stores.ask(`UPDATE invitation_mails SET created_at = now() - interval '25 hours'`);
}

/** Does something that waits for an erasure of the invitation. */
async function whileErasing<Result>({ invitation }: Invited, work: () => Promise<Result>): Promise<Result> {
  const erasing = await stores.database.pool.connect();
  await erasing.query('BEGIN');
  await erasing.query('DELETE FROM invitations WHERE id = $1', [uuidOf(invitation.id)]);
  const done = work();
  await stores.untilWaiting();
  await erasing.query('COMMIT');
  erasing.release();
  return done;
}

describe('An invitation', () => {
  it('that is accepted concurrently creates one member, one event and one entry in the audit log', async () => {
    await newWorkspace();
    const { tokenHash, invitation } = await memberStores.invite(workspace, ADA);
    const all = await Promise.all(Array.from({ length: 8 }, () => memberStores.accept(tokenHash)));
    expect(all.every((one) => one!.acceptedAt !== null)).toBe(true);
    const audited = ['member.invited', 'member.joined'];
    expect(await memberStores.traces(workspace)).toEqual({ members: 1, events: 1, audited });
    expect(await memberStores.pending(workspace)).toBe(0);
    expect((await memberStores.membersOf(workspace))[0]).toMatchObject({
      email: ADA,
      name: 'ada',
      role: 'EDITOR',
    });
    expect(invitation.expiresAt.getTime() - invitation.createdAt.getTime()).toBe(7 * 86_400_000);
  });

  it('G10: was created at the time in its id, by which it is listed, however long it waited for its workspace', async () => {
    const madeAt = Date.now() - 5_000;
    const wanted = {
      id: newId('inv', madeAt),
      email: 'late@example.net',
      name: null,
      role: 'VIEWER',
    } as const;
    const invitation = await memberStores.changes.create(
      await stores.openWorkspace(),
      TESTS,
      wanted,
      newMail(),
    );
    expect(invitation).toMatchObject({ createdAt: new Date(madeAt) });
  });

  it('can be sent again although the clock was set back by more than its validity', async () => {
    const created = newId('inv', Date.now() + 8 * 86_400_000);
    const wanted = { id: created, email: 'early@example.net', name: null, role: 'VIEWER' } as const;
    const another = await stores.openWorkspace();
    await memberStores.changes.create(another, TESTS, wanted, newMail());
    expect(await memberStores.changes.renew(another, TESTS, created, newMail())).toMatchObject({
      id: created,
    });
  });

  it('that is accepted and revoked concurrently is entirely one of both', async () => {
    const outcomes = new Set<string>();
    for (let round = 0; round < ROUNDS; round += 1) {
      await newWorkspace();
      const { tokenHash, invitation } = await memberStores.invite(workspace, ADA);
      const both = [
        () => memberStores.changes.revoke(workspace, TESTS, invitation.id),
        () => memberStores.accept(tokenHash),
      ];
      await Promise.all((round % 2 ? both : both.reverse()).map((one) => one()));
      const { acceptedAt, revokedAt } = (await find(invitation.id))!;
      expect([acceptedAt, revokedAt].filter((time) => time !== null)).toHaveLength(1);
      const [joined, last] = acceptedAt ? [1, 'member.joined'] : [0, 'member.invitation_revoked'];
      const audited = ['member.invited', last];
      expect(await memberStores.traces(workspace)).toEqual({ members: joined, events: joined, audited });
      outcomes.add(last);
    }
    expect(outcomes.size).toBeGreaterThan(0);
  });

  it('that is accepted while it is sent again is accepted, or its old link has no effect', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await newWorkspace();
      const { tokenHash, invitation } = await memberStores.invite(workspace, ADA);
      const [renewed, accepted] = await Promise.all([
        memberStores.changes.renew(workspace, TESTS, invitation.id, newMail()),
        memberStores.accept(tokenHash),
      ]);
      const isAccepted = accepted !== undefined;
      expect(renewed).toMatchObject(isAccepted ? { refused: 'ended', status: 'ACCEPTED' } : { email: ADA });
      expect((await memberStores.traces(workspace)).members).toBe(isAccepted ? 1 : 0);
      expect(await memberStores.pending(workspace)).toBe(isAccepted ? 0 : 1);
    }
  });

  it('that is erased while it is accepted, sent again or revoked is not found', async () => {
    await newWorkspace();
    const { changes } = memberStores;
    for (const change of [
      ({ tokenHash }: Invited) => memberStores.accept(tokenHash),
      ({ invitation }: Invited) => changes.renew(workspace, TESTS, invitation.id, newMail()),
      ({ invitation }: Invited) => changes.revoke(workspace, TESTS, invitation.id),
    ]) {
      const invited = await memberStores.invite(workspace, ADA);
      expect(await whileErasing(invited, () => change(invited))).toBeUndefined();
    }
    expect(await memberStores.membersOf(workspace)).toEqual([]);
  });

  it('that has expired and is erased while another one replaces it does not prevent that', async () => {
    await newWorkspace();
    const invited = await memberStores.invite(workspace, ADA);
    await memberStores.letExpire(invited.invitation);
    const another = await whileErasing(invited, () => memberStores.create(workspace, ADA));
    expect(another).toMatchObject({ email: ADA, revokedAt: null });
  });

  it('is the only open one for an address, in any letter case, also in concurrent calls', async () => {
    await newWorkspace();
    const spellings = [ADA, 'ADA@example.net', 'Ada@example.net', ADA];
    const all = await Promise.all(spellings.map((email) => memberStores.create(workspace, email)));
    const made = all.filter((one) => !('refused' in one));
    expect(made).toHaveLength(1);
    const refused = { refused: 'is_invited', id: (made[0] as { id: string }).id };
    expect(all.filter((one) => 'refused' in one)).toEqual([refused, refused, refused]);
    expect(await memberStores.pending(workspace)).toBe(1);
  });

  it('that has expired cannot be accepted, does not prevent another one, and can be sent again', async () => {
    await newWorkspace();
    const { tokenHash, invitation } = await memberStores.invite(workspace, ADA);
    await memberStores.letExpire(invitation);
    expect(await memberStores.accept(tokenHash)).toMatchObject({ id: invitation.id, acceptedAt: null });
    const next = await memberStores.invite(workspace, ADA);
    expect((await find(invitation.id))!.revokedAt).not.toBeNull();
    // A mail with the former link, if it has not been sent yet, is not sent any more.
    expect(await memberStores.pending(workspace)).toBe(1);
    await memberStores.letExpire(next.invitation);
    const mail = newMail();
    await memberStores.changes.renew(workspace, TESTS, next.invitation.id, mail);
    expect(await memberStores.accept(next.tokenHash)).toBeUndefined();
    expect(await memberStores.accept(mail.tokenHash)).toMatchObject({ acceptedAt: expect.any(Date) });
  });

  it('is refused for a member', async () => {
    await newWorkspace();
    const { id } = await memberStores.join(workspace, ADA);
    expect(await memberStores.create(workspace, 'ADA@example.net')).toEqual({ refused: 'is_member', id });
  });

  it('that was accepted or revoked cannot be changed', async () => {
    await newWorkspace();
    const { invitation } = await memberStores.invite(workspace, ADA);
    const revoked = await memberStores.changes.revoke(workspace, TESTS, invitation.id);
    expect(await memberStores.pending(workspace)).toBe(0);
    expect(await memberStores.changes.revoke(workspace, TESTS, invitation.id)).toEqual(revoked);
    expect(await memberStores.changes.renew(workspace, TESTS, invitation.id, newMail())).toEqual({
      refused: 'ended',
      status: 'REVOKED',
    });
    const audited = ['member.invited', 'member.invitation_revoked'];
    expect((await memberStores.traces(workspace)).audited).toEqual(audited);
  });

  it('is not found from another workspace', async () => {
    await newWorkspace();
    const { invitation } = await memberStores.invite(workspace, ADA);
    const other = await stores.openWorkspace();
    const { changes } = memberStores;
    expect([
      await new InvitationStore(stores.database).find(other, invitation.id),
      await changes.revoke(other, TESTS, invitation.id),
      await changes.renew(other, TESTS, invitation.id, newMail()),
    ]).toEqual([undefined, undefined, undefined]);
    expect(await memberStores.pending(workspace)).toBe(1);
  });

  it('is one of at most a hundred open ones, also in concurrent calls', async () => {
    await newWorkspace();
    const { invitation: expired } = await memberStores.invite(workspace, ADA);
    await memberStores.letExpire(expired);
    await stores.ask(
      `INSERT INTO invitations (id, workspace_id, email, role, token_hash, created_at, expires_at)
       SELECT gen_random_uuid(), $1::uuid, n || '@example.net', 'VIEWER', sha256(n::text::bytea), now(), now() + interval '1 day'
       FROM   generate_series(1, 98) n`,
      [uuidOf(workspace)],
    );
    const all = await Promise.all(
      ['a', 'b', 'c', 'd'].map((name) => memberStores.create(workspace, `${name}@example.net`)),
    );
    expect(all.filter((one) => 'refused' in one)).toEqual([{ refused: 'too_many' }, { refused: 'too_many' }]);
    const again = await memberStores.changes.renew(workspace, TESTS, expired.id, newMail());
    expect(again).toEqual({ refused: 'too_many' });
  });

  it('is mailed at most five times a day, and at most twenty times to an address for all workspaces', async () => {
    await newWorkspace();
    const { invitation } = await memberStores.invite(workspace, BOB);
    const renew = () => memberStores.changes.renew(workspace, TESTS, invitation.id, newMail());
    for (let times = 2; times <= 5; times += 1) expect(await renew()).not.toHaveProperty('refused');
    const refused = { refused: 'too_many_mails', retryAfterSeconds: expect.any(Number) };
    expect(await renew()).toEqual(refused);
    expect(((await renew()) as { retryAfterSeconds: number }).retryAfterSeconds).toBeGreaterThan(86_000);
    for (let others = 1; others <= 15; others += 1)
      await memberStores.invite(await stores.openWorkspace(), BOB.toUpperCase());
    expect(await memberStores.create(await stores.openWorkspace(), BOB)).toEqual(refused);
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
      invited.push(await memberStores.invite(workspace, `${name}@example.com`));
    await memberStores.changes.revoke(workspace, TESTS, invited[0]!.invitation.id);
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
  it('is the same user in all workspaces, also after joining several concurrently', async () => {
    const workspaces = await Promise.all([1, 2, 3, 4].map(() => stores.openWorkspace()));
    const invited = await Promise.all(
      workspaces.map((each, n) => memberStores.invite(each, n % 2 ? 'carl@example.net' : 'Carl@Example.net')),
    );
    await Promise.all(invited.map(({ tokenHash }) => memberStores.accept(tokenHash)));
    const members = await Promise.all(workspaces.map((each) => memberStores.membersOf(each)));
    expect(new Set(members.flat().map(({ id }) => id)).size).toBe(1);
    expect(members.flat()).toHaveLength(4);
  });

  it.each<[string, (id: Parameters<MemberTestStores['members']['remove']>[2]) => Promise<unknown>]>([
    ['removed', (id) => memberStores.members.remove(workspace, TESTS, id)],
    ['made a VIEWER', (id) => memberStores.members.setRole(workspace, TESTS, id, 'VIEWER')],
  ])('who is the last editor cannot be %s, also when two editors are concurrently', async (_, change) => {
    for (let round = 0; round < ROUNDS; round += 1) {
      await newWorkspace();
      const ids = [
        (await memberStores.join(workspace, ADA)).id,
        (await memberStores.join(workspace, 'dora@example.net')).id,
      ];
      await memberStores.join(workspace, 'viewer@example.net', 'VIEWER');
      const both = await Promise.all(ids.map((id) => change(id)));
      expect(both.filter((one) => 'refused' in (one as object))).toEqual([{ refused: 'last_editor' }]);
      const roles = (await memberStores.membersOf(workspace)).map(({ role }) => role);
      expect(roles.filter((role) => role === 'EDITOR')).toHaveLength(1);
    }
  });

  it('who is the last one can be removed, and invited again', async () => {
    await newWorkspace();
    const { id } = await memberStores.join(workspace, ADA);
    expect(await memberStores.members.remove(workspace, TESTS, id)).toMatchObject({ id, email: ADA });
    expect(await memberStores.members.remove(workspace, TESTS, id)).toBeUndefined();
    expect((await memberStores.join(workspace, ADA)).id).toBe(id);
  });

  it('can get another role, which is audited; the same role is not a change', async () => {
    await newWorkspace();
    await memberStores.join(workspace, BOB);
    const { id } = await memberStores.join(workspace, ADA);
    for (const role of ['VIEWER', 'VIEWER'] satisfies Role[])
      expect(await memberStores.members.setRole(workspace, TESTS, id, role)).toMatchObject({ id, role });
    expect(await memberStores.members.find(workspace, id)).toMatchObject({ role: 'VIEWER' });
    expect((await memberStores.traces(workspace)).audited.at(-1)).toBe('member.updated');
    expect((await memberStores.traces(workspace)).audited).toHaveLength(5);
  });

  it('is not found from another workspace', async () => {
    await newWorkspace();
    const { id } = await memberStores.join(workspace, ADA);
    const other = await stores.openWorkspace();
    expect([
      await memberStores.members.find(other, id),
      await memberStores.members.setRole(other, TESTS, id, 'VIEWER'),
      await memberStores.members.remove(other, TESTS, id),
      await memberStores.members.find(workspace, newId('usr', Date.now())),
    ]).toEqual([undefined, undefined, undefined, undefined]);
    expect(await memberStores.members.find(workspace, id)).toMatchObject({ role: 'EDITOR' });
  });

  it('is listed in order of joining, in pages that miss none', async () => {
    await newWorkspace();
    const names = ['a', 'b', 'c', 'd', 'e'].map((name) => `${name}@example.org`);
    for (const email of names) await memberStores.join(workspace, email);
    const page = { limit: 2, sort: 'createdAt.asc' } as const;
    const first = await memberStores.members.list(workspace, page);
    const startAt = `mbr_${first.startAt}` as NonNullable<
      Parameters<MemberTestStores['members']['list']>[1]['startAt']
    >;
    const second = await memberStores.members.list(workspace, { ...page, limit: 3, startAt });
    expect([...first.items, ...second.items].map(({ email }) => email)).toEqual(names);
    expect([first.hasMore, second.hasMore]).toEqual([true, false]);
  });
});

function find(id: Parameters<InvitationStore['find']>[1]): ReturnType<InvitationStore['find']> {
  return new InvitationStore(stores.database).find(workspace, id);
}
