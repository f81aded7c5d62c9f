import { beforeAll, describe, expect, it } from '@jest/globals';
import { newId, sleep, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { POSTHORN } from '@posthorn/domain';
import { faultOf } from '../../faults/faults.ts';
import { rawEmail, scheduledEmail } from '../../test-stores.fixture.ts';
import { openTestStores } from '../../open-test-stores.fixture.ts';
import type { AcceptableEmail, AllowedSenders } from './acceptable-email.ts';
import { IdentityStore } from '../identities/identity-store.ts';

const STRANGER = { from: { address: 'hello@other.example' }, fromDomain: 'other.example' };
const TABLES = ['emails', 'email_contents', 'outbox', 'usage', 'idempotency_keys', 'email_events'];

const stores = await openTestStores();
let acme: WorkspaceId;

async function rowCounts(): Promise<number[]> {
  return Promise.all(TABLES.map((table) => stores.count(table)));
}

async function outcomeKinds(emails: AcceptableEmail[]): Promise<string[]> {
  return (await stores.accept(emails)).map((outcome) => outcome.kind);
}

async function usedBy(workspaceId: WorkspaceId): Promise<number | undefined> {
  const where = 'SELECT accepted FROM usage WHERE workspace_id = $1';
  const [row] = await stores.ask<{ accepted: number }>(where, [uuidOf(workspaceId)]);
  return row?.accepted;
}

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';

describe('An accepted email', () => {
  beforeAll(async () => (acme = await stores.openWorkspace()));

  it('is stored with all its properties', async () => {
    const email = rawEmail(acme, {
      from: { address: 'hello@example.com', name: 'Hello, "World"' },
      to: { address: 'ada@example.net', name: 'Ada' },
      replyTo: [{ address: 'help@example.com', name: 'Help' }, { address: 'us@example.com' }],
      subject: 'Prices: 5 € \\ {"a":1} 👋',
      groupBy: 'welcome',
      trackClicks: true,
      html: `<p>${'"\\\n\t'}</p>`,
      text: 'plain',
      previewText: 'peek',
      attachments: [{ filename: 'Übersicht.pdf', contentType: 'application/pdf', content: 'JVBERg==' }],
      traceparent: TRACEPARENT,
    });
    expect(await outcomeKinds([email])).toEqual(['accepted']);

    const { prisma } = stores.database;
    expect(await prisma.email.findFirst({ where: { id: uuidOf(email.id) } })).toEqual({
      id: uuidOf(email.id),
      workspaceId: uuidOf(acme),
      type: 'raw',
      status: 'SENT',
      fromAddress: 'hello@example.com',
      fromName: 'Hello, "World"',
      toAddress: 'ada@example.net',
      toName: 'Ada',
      replyTo: email.replyTo,
      subject: email.subject,
      templateName: null,
      templateVersionId: null,
      idempotencyKeys: [],
      messageId: email.messageId,
      groupBy: 'welcome',
      trackClicks: true,
      trackOpens: false,
      unsubscribe: false,
      sendAt: null,
      acceptedAt: email.acceptedAt,
      sentAt: null,
      traceparent: TRACEPARENT,
    });
    expect(await prisma.emailContent.findFirst({ where: { emailId: uuidOf(email.id) } })).toEqual({
      emailId: uuidOf(email.id),
      html: email.html,
      text: 'plain',
      previewText: 'peek',
      variables: null,
      attachments: email.attachments,
    });
  });

  it('is ready at once when it is due now, and waits when it is not', async () => {
    const now = rawEmail(acme);
    const later = scheduledEmail(acme, new Date(Date.now() + 3_600_000));
    await stores.accept([now, later], null);

    expect(await stores.rowOf(now.id)).toMatchObject({ state: 'ready', laneId: now.laneId, claims: 0 });
    const waiting = await stores.rowOf(later.id);
    expect(waiting).toMatchObject({ state: 'waiting', laneId: later.laneId });
    expect(waiting!.dueInSeconds).toBeGreaterThan(3_500);
    expect(await stores.statusOf(later.id)).toBe('SCHEDULED');
  });

  it('may come from a verified address, or from any address of a verified domain', async () => {
    const globex = await stores.openWorkspace();
    await new IdentityStore(stores.database).put(globex, POSTHORN, {
      kind: 'address',
      value: 'boss@else.example',
      verified: true,
    });
    const from = (address: string, fromDomain: string) => rawEmail(globex, { from: { address }, fromDomain });

    expect(
      await outcomeKinds([
        from('anyone@example.com', 'example.com'),
        from('boss@else.example', 'else.example'),
        from('clerk@else.example', 'else.example'),
        from('anyone@sub.example.com', 'sub.example.com'),
      ]),
    ).toEqual(['accepted', 'accepted', 'unverified', 'unverified']);
  });
});

describe('A refused email', () => {
  beforeAll(async () => (acme = await stores.openWorkspace(3)));

  it('leaves no trace when its sender is not verified', async () => {
    const before = await rowCounts();
    expect(await outcomeKinds([rawEmail(acme, STRANGER)])).toEqual(['unverified']);
    expect(await rowCounts()).toEqual(before);
  });

  it('may not come from an identity that was never verified, nor from that of another workspace', async () => {
    const globex = await stores.openWorkspace();
    await new IdentityStore(stores.database).put(globex, POSTHORN, {
      kind: 'domain',
      value: 'other.example',
      verified: false,
    });
    const initech = await stores.openWorkspace();
    await new IdentityStore(stores.database).put(initech, POSTHORN, {
      kind: 'domain',
      value: 'other.example',
      verified: true,
    });

    expect(await outcomeKinds([rawEmail(globex, STRANGER), rawEmail(initech, STRANGER)])).toEqual([
      'unverified',
      'accepted',
    ]);
  });

  it('X1: is refused with all senders of its workspace, up to the maximum of identities', async () => {
    const rich = await stores.openWorkspace();
    const identities = new IdentityStore(stores.database);
    const domains = Array.from({ length: 150 }, (_, n) => `shop-${n}.example`);
    const addresses = Array.from({ length: 49 }, (_, n) => `clerk-${n}@else.example`);
    for (const domain of domains)
      await identities.put(rich, POSTHORN, { kind: 'domain', value: domain, verified: true });
    for (const address of addresses)
      await identities.put(rich, POSTHORN, { kind: 'address', value: address, verified: true });
    await identities.put(rich, POSTHORN, {
      kind: 'domain',
      value: 'aaa-unverified.example',
      verified: false,
    });
    await identities.put(rich, POSTHORN, {
      kind: 'address',
      value: 'a-unverified@else.example',
      verified: false,
    });

    const all = {
      addresses: addresses.toSorted(),
      domains: ['example.com', ...domains].toSorted(),
      unverified: null,
    };
    expect(await stores.accept([rawEmail(rich, STRANGER)], null)).toEqual([{ kind: 'unverified', ...all }]);
    expect(await identities.refuseSender(rich, STRANGER.from.address)).toEqual(all);
  });

  it('X1: is refused with the identity of its sender that its workspace has yet to verify, the domain rather than the address', async () => {
    const { address } = STRANGER.from;
    const globex = await stores.openWorkspace();
    const identities = new IdentityStore(stores.database);
    const refused = async () => {
      const [outcome] = await stores.accept([rawEmail(globex, STRANGER)], null);
      expect(outcome).toEqual({ kind: 'unverified', ...(await identities.refuseSender(globex, address)) });
      return (outcome as AllowedSenders).unverified;
    };
    await identities.put(await stores.openWorkspace(), POSTHORN, {
      kind: 'address',
      value: address,
      verified: false,
    });
    expect(await refused()).toBeNull();
    for (const [kind, value] of [['address', address] as const, ['domain', 'other.example'] as const]) {
      await identities.put(globex, POSTHORN, { kind, value, verified: false });
      expect(await refused()).toEqual({ id: expect.stringMatching(/^idn_/), value });
    }
    await identities.put(globex, POSTHORN, { kind: 'address', value: address, verified: true });
    expect(await identities.refuseSender(globex, address)).toBeUndefined();
  });

  it('is one of a workspace that does not exist', async () => {
    const before = await rowCounts();
    expect(await outcomeKinds([rawEmail(newId('wrk', Date.now()))])).toEqual(['unverified']);
    expect(await rowCounts()).toEqual(before);
  });

  it('S14: changes no contact, though another email of its group does', async () => {
    const globex = await stores.openWorkspace();
    const to = (address: string) => ({ to: { address }, contactProperties: { name: address } });
    const outcomes = await outcomeKinds([
      rawEmail(globex, to('ada@example.net')),
      rawEmail(globex, { ...STRANGER, ...to('bo@example.net') }),
    ]);
    expect(outcomes).toEqual(['accepted', 'unverified']);
    expect(
      await stores.ask('SELECT email, properties FROM contacts WHERE workspace_id = $1', [uuidOf(globex)]),
    ).toEqual([{ email: 'ada@example.net', properties: { name: 'ada@example.net' } }]);
  });

  it('does not fail its group, and the outcomes are in order', async () => {
    const globex = await stores.openWorkspace(2);
    const group = [
      rawEmail(globex),
      rawEmail(acme, STRANGER),
      rawEmail(globex),
      rawEmail(globex),
      rawEmail(acme),
      rawEmail(globex, STRANGER),
    ];
    const outcomes = await stores.accept(group, null);

    expect(outcomes).toEqual([
      { kind: 'accepted' },
      { kind: 'unverified', addresses: [], domains: ['example.com'], unverified: null },
      { kind: 'accepted' },
      { kind: 'over_limit', used: 2, monthlyLimit: 2 },
      { kind: 'accepted' },
      { kind: 'unverified', addresses: [], domains: ['example.com'], unverified: null },
    ]);
    expect(await usedBy(globex)).toBe(2);
    const found = await stores.acceptance.findAccepted(group.map((email) => email.id));
    expect(found).toEqual(new Set([group[0]!.id, group[2]!.id, group[4]!.id]));
  });

  it.each([
    { what: 'one statement', bytesToAccept: 42 },
    { what: 'several statements', bytesToAccept: 20 * 1024 * 1024 },
  ])(
    'rolls back its whole group of $what, as `data`, when the database refuses its data',
    async ({ bytesToAccept }) => {
      const before = await rowCounts();
      const bad = { bytesToAccept, groupBy: 'x'.repeat(256) };
      const group = [rawEmail(acme, { bytesToAccept }), rawEmail(acme, bad)];
      const error: unknown = await stores.accept(group, null).catch((thrown: unknown) => thrown);

      expect(faultOf(error)).toBe('data');
      expect(await rowCounts()).toEqual(before);
    },
  );
});

describe('A group', () => {
  beforeAll(async () => (acme = await stores.openWorkspace()));

  it('may be empty', async () => {
    expect(await stores.accept([], null)).toEqual([]);
  });

  it('may be of 500 emails of many workspaces', async () => {
    const workspaces = await Promise.all(Array.from({ length: 5 }, () => stores.openWorkspace()));
    const group = Array.from({ length: 500 }, (_, n) => rawEmail(workspaces[n % 5]!));
    expect(new Set(await outcomeKinds(group))).toEqual(new Set(['accepted']));
    expect(await Promise.all(workspaces.map(usedBy))).toEqual([100, 100, 100, 100, 100]);
  });

  it('does not set the clock wrong after waiting for another group', async () => {
    await stores.accept([rawEmail(acme)], null);
    // Observed just before: on a busy machine, earlier answers may all have taken as long as the one that waits.
    stores.database.clock.observe(Date.now(), performance.now());
    const holder = await stores.database.pool.connect();
    await holder.query('BEGIN');
    await holder.query('SELECT FROM usage WHERE workspace_id = $1 FOR UPDATE', [uuidOf(acme)]);
    const offsetMs = (): number => stores.database.clock.nowMs() - performance.now();
    const before = offsetMs();
    const waiting = stores.accept([rawEmail(acme)], null);
    await stores.untilWaiting();
    await sleep(200);
    await holder.query('COMMIT');
    holder.release();
    await waiting;

    expect(Math.abs(offsetMs() - before)).toBeLessThan(50);
    await stores.accept([rawEmail(acme)], null);
    expect(Math.abs(stores.database.clock.nowMs() - Date.now())).toBeLessThan(60_000);
  });
});
