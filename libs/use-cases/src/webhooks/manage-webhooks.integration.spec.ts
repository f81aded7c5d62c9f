import { generateKeySync } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { sleep, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import {
  AuditLogStore,
  sealContextOf,
  SEALED_COLUMNS,
  SealedSecretStore,
  WebhookStore,
  WorkspaceStore,
} from '@posthorn/database';
import { operator, POSTHORN } from '@posthorn/domain';
import { type KeyRing, SecretBox } from '@posthorn/signing';
import { rotateSecrets } from '../operate/rotate-secrets.ts';
import { ManageWebhooks } from './manage-webhooks.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const ACTOR = operator('test');
const WANTED = { url: 'https://example.com/hook', events: ['CONTACT_CREATED'], status: 'ACTIVE' } as const;
const key = (id: string): KeyRing[0] => ({ id, key: generateKeySync('aes', { length: 256 }) });
const [OLD, NEW] = [key('old'), key('new')];
const WAITING = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;

const POOL_SIZE = 6;
const database = await openTestDatabase(POOL_SIZE);
let acme: WorkspaceId;

beforeEach(async () => {
  acme = (await new WorkspaceStore(database).create(POSTHORN, 'Acme', null)).id;
});

const managed = (...ring: KeyRing): ManageWebhooks =>
  new ManageWebhooks({
    webhooks: new WebhookStore(database),
    clock: database.clock,
    box: new SecretBox(ring),
    policy: { allowsHttp: false, networks: [] },
  });

async function ask<Row extends object>(sql: string, ...values: unknown[]): Promise<Row[]> {
  return (await database.pool.query<Row>(sql, values)).rows;
}

const pausesOf = (id: WebhookId): Promise<{ queue: string; reason: string }[]> =>
  ask('SELECT queue, reason FROM paused_lanes WHERE lane_id = $1', id);

/** By action, since entries of the same millisecond are in no order. */
const audited = async (): Promise<{ action: string; detail: object }[]> => {
  const log = await new AuditLogStore(database).list(acme, { limit: 100, sort: 'createdAt.asc' });
  const ofWebhooks = log.items.filter(({ action }) => action.startsWith('webhook.'));
  return ofWebhooks
    .map(({ action, detail }) => ({ action, detail }))
    .sort((one, other) => (one.action < other.action ? -1 : Number(one.action > other.action)));
};

describe('The token of a webhook', () => {
  it('W3: is stored encrypted, can be decrypted after a key rotation, and by no other key', async () => {
    const created = await managed(OLD).create(acme, ACTOR, { ...WANTED, token: 'a token of ours' });
    const [row] = await ask<{ token: Buffer }>(
      'SELECT token FROM webhooks WHERE id = $1',
      uuidOf(created.id),
    );
    expect(row!.token.toString('latin1')).not.toContain('token of ours');

    await rotateSecrets(new SealedSecretStore(database), ACTOR, new SecretBox([NEW, OLD]));
    expect((await managed(NEW).read(acme, created.id))!.token).toBe('a token of ours');
    expect((await managed(OLD).read(acme, created.id))!.token).toBeNull();
  });

  it('W3: of one webhook cannot be decrypted for another', async () => {
    const [one, two] = await Promise.all([1, 2].map(() => managed(OLD).create(acme, ACTOR, WANTED)));
    await ask(
      'UPDATE webhooks SET token = (SELECT token FROM webhooks WHERE id = $1) WHERE id = $2',
      uuidOf(one!.id),
      uuidOf(two!.id),
    );
    expect((await managed(OLD).read(acme, two!.id))!.token).toBeNull();
  });

  it('W4: can be replaced when its encryption key was lost, and the webhook be changed and deleted without it', async () => {
    const webhooks = managed(NEW);
    const [one, two] = await Promise.all([1, 2].map(() => managed(OLD).create(acme, ACTOR, WANTED)));
    const { id } = one!;
    expect(await webhooks.update(acme, ACTOR, id, { status: 'PAUSED' })).toMatchObject({ id, token: null });
    const mended = await webhooks.update(acme, ACTOR, id, { token: 'another token' });
    expect(mended).toMatchObject({ id, token: 'another token', previousTokenUntil: null });
    const rotated = await webhooks.rotateToken(acme, ACTOR, two!.id, {});
    expect(rotated).toMatchObject({ token: expect.stringMatching(/^wht_/), previousTokenUntil: null });
    const three = await managed(OLD).create(acme, ACTOR, WANTED);
    expect(await webhooks.delete(acme, ACTOR, three.id)).toMatchObject({ id: three.id, token: null });
  });
});

describe('A change', () => {
  it('W2: to repeated events keeps each once, and to fewer events keeps only these', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    const [first, second] = ['CONTACT_DELETED', 'CONTACT_UPDATED'] as const;
    const changed = await webhooks.update(acme, ACTOR, id, { events: [first, second, first] });
    expect(changed!.events).toEqual([first, second]);
    expect((await webhooks.update(acme, ACTOR, id, { events: [first] }))!.events).toEqual([first]);
  });
});

describe('A new token', () => {
  const SOON = { min: 3_500_000, max: 3_600_000 };
  const until = (webhook: { previousTokenUntil: Date | null } | undefined): number =>
    webhook!.previousTokenUntil!.getTime() - database.clock.nowMs();

  it('W6: keeps the previous one for the requested time, a day by default, or not at all', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    const hour = await webhooks.rotateToken(acme, ACTOR, id, { overlapSeconds: 3_600 });
    expect(hour!.token).toMatch(/^wht_\w{32}$/);
    expect(until(hour)).toBeGreaterThan(SOON.min);
    expect(until(hour)).toBeLessThanOrEqual(SOON.max);
    expect(until(await webhooks.rotateToken(acme, ACTOR, id, {}))).toBeGreaterThan(86_000_000);
    const last = await webhooks.rotateToken(acme, ACTOR, id, { overlapSeconds: 0 });
    expect(last).toMatchObject({ previousTokenUntil: null });
    expect(last!.token).not.toBe(hour!.token);
    expect(await ask('SELECT previous_token FROM webhooks WHERE id = $1', uuidOf(id))).toEqual([
      { previous_token: null },
    ]);
  });

  it('W4, W6: that is the current one changes nothing, but without an overlap the previous one ends', async () => {
    const webhooks = managed(OLD);
    const { id, token: first } = await webhooks.create(acme, ACTOR, WANTED);
    const same = { token: 'sesame, open' };
    const changed = await webhooks.rotateToken(acme, ACTOR, id, same);
    expect(await webhooks.rotateToken(acme, ACTOR, id, { ...same, overlapSeconds: 60 })).toEqual(changed);
    expect(await webhooks.update(acme, ACTOR, id, same)).toEqual(changed);
    const ended = await webhooks.rotateToken(acme, ACTOR, id, { ...same, overlapSeconds: 0 });
    expect(ended).toMatchObject({ ...same, previousTokenUntil: null });
    expect(await webhooks.rotateToken(acme, ACTOR, id, { ...same, overlapSeconds: 0 })).toEqual(ended);
    expect((await audited()).slice(1)).toEqual([
      {
        action: 'webhook.updated',
        detail: { token: 'changed', previousTokenUntil: changed!.previousTokenUntil!.toISOString() },
      },
      { action: 'webhook.updated', detail: { previousTokenUntil: null } },
    ]);
    expect(JSON.stringify(await audited())).not.toContain(first);
  });

  it('W6: shows no previous one any more whose time is over', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    await webhooks.rotateToken(acme, ACTOR, id, { token: 'another token' });
    await ask(`UPDATE webhooks SET previous_token_until = now() - interval '1 s' WHERE id = $1`, uuidOf(id));
    const again = { token: 'another token', overlapSeconds: 0 };
    expect(await webhooks.rotateToken(acme, ACTOR, id, again)).toMatchObject({ previousTokenUntil: null });
    // There was nothing left to end.
    expect(await audited()).toHaveLength(2);
  });

  it('W6: of several concurrent ones leaves one, and its predecessor', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    const given = await Promise.all([1, 2, 3, 4].map(() => webhooks.rotateToken(acme, ACTOR, id, {})));
    const { token } = (await webhooks.read(acme, id))!;
    expect(given.map((webhook) => webhook!.token)).toContain(token);
    const [row] = await ask<{ previous_token: Buffer }>(
      'SELECT previous_token FROM webhooks WHERE id = $1',
      uuidOf(id),
    );
    const context = sealContextOf(SEALED_COLUMNS.webhookPreviousToken, uuidOf(id));
    const previous = new SecretBox([OLD]).open(row!.previous_token, context).toString();
    expect(given.map((webhook) => webhook!.token).filter((one) => one !== token)).toContain(previous);
  });

  it('G3: cannot be set for a webhook of another workspace', async () => {
    const { id } = await managed(OLD).create(acme, ACTOR, WANTED);
    const other = (await new WorkspaceStore(database).create(POSTHORN, 'Other', null)).id;
    expect(await managed(OLD).rotateToken(other, ACTOR, id, {})).toBeUndefined();
  });
});

describe('Pausing a webhook', () => {
  it('W4, W9: pauses and resumes its lane in the same transaction', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    expect(await pausesOf(id)).toEqual([]);
    expect(await webhooks.update(acme, ACTOR, id, { status: 'PAUSED' })).toMatchObject({ status: 'PAUSED' });
    expect(await pausesOf(id)).toEqual([{ queue: 'webhook', reason: 'the webhook is PAUSED' }]);
    expect(await webhooks.update(acme, ACTOR, id, { status: 'ACTIVE' })).toMatchObject({ status: 'ACTIVE' });
    expect(await pausesOf(id)).toEqual([]);
  });

  it('W9: one that Posthorn has disabled is made active again, or paused', async () => {
    const webhooks = managed(OLD);
    for (const status of ['ACTIVE', 'PAUSED'] as const) {
      const { id } = await webhooks.create(acme, ACTOR, WANTED);
      await ask(`UPDATE webhooks SET status = 'DISABLED' WHERE id = $1`, uuidOf(id));
      await ask(`INSERT INTO paused_lanes (queue, lane_id, reason) VALUES ('webhook', $1, 'gone')`, id);
      expect(await webhooks.update(acme, ACTOR, id, { status })).toMatchObject({ status });
      expect((await pausesOf(id)).map(({ reason }) => reason)).toEqual(
        status === 'ACTIVE' ? [] : ['the webhook is PAUSED'],
      );
    }
  });

  it('W10: while Posthorn disables it does not hide that from what puts exhausted deliveries back', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    const disabling = await database.pool.connect();
    await disabling.query('BEGIN; SET LOCAL idle_in_transaction_session_timeout = 0');
    // Any other one waits for however long this process is suspended before the COMMIT.
    const others = await Promise.all(Array.from({ length: POOL_SIZE - 1 }, () => database.pool.connect()));
    for (const other of others) {
      await other.query(`SET lock_timeout = '1min'; SET statement_timeout = '1min'`);
      other.release();
    }
    await disabling.query(`UPDATE webhooks SET status = 'DISABLED' WHERE id = $1`, [uuidOf(id)]);
    const paused = webhooks.update(acme, ACTOR, id, { status: 'PAUSED' });
    while ((await ask(WAITING)).length === 0) await sleep(5);
    await disabling.query('COMMIT');
    disabling.release();
    expect(await paused).toMatchObject({ status: 'PAUSED' });
    const [row] = await ask<{ isPutBack: boolean }>(
      `SELECT put_back_before IS NOT NULL AS "isPutBack" FROM webhooks WHERE id = $1`,
      uuidOf(id),
    );
    expect(row!.isPutBack).toBe(true);
  });

  it('leaves no paused or slow lane when the webhook is deleted', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    await webhooks.update(acme, ACTOR, id, { status: 'PAUSED' });
    await ask('INSERT INTO slow_lanes (lane_id) VALUES ($1)', id);
    await webhooks.delete(acme, ACTOR, id);
    expect([await pausesOf(id), await ask('SELECT FROM slow_lanes WHERE lane_id = $1', id)]).toEqual([
      [],
      [],
    ]);
  });
});

describe('The audit log', () => {
  it('records each change, of the token only that it changed, and nothing where nothing changed', async () => {
    const webhooks = managed(OLD);
    const { id, token } = await webhooks.create(acme, ACTOR, WANTED);
    await webhooks.update(acme, ACTOR, id, {});
    await webhooks.update(acme, ACTOR, id, { ...WANTED, token: token!, status: 'ACTIVE' });
    const change = { token: 'sesame, open', events: ['CONTACT_DELETED'], status: 'PAUSED' } as const;
    await webhooks.update(acme, ACTOR, id, change);
    await webhooks.delete(acme, ACTOR, id);
    expect(await audited()).toEqual([
      { action: 'webhook.created', detail: WANTED },
      { action: 'webhook.deleted', detail: { url: WANTED.url, events: ['CONTACT_DELETED'] } },
      {
        action: 'webhook.updated',
        detail: {
          token: 'changed',
          previousTokenUntil: expect.stringMatching(/Z$/),
          events: { from: ['CONTACT_CREATED'], to: ['CONTACT_DELETED'] },
          status: { from: 'ACTIVE', to: 'PAUSED' },
        },
      },
    ]);
  });
});

describe('Concurrent requests', () => {
  it('G11: exactly as many webhooks are created as the limit allows', async () => {
    const webhooks = managed(OLD);
    for (let n = 0; n < 45; n += 1) await webhooks.create(acme, ACTOR, WANTED);
    const outcomes = await Promise.allSettled(
      Array.from({ length: 12 }, () => webhooks.create(acme, ACTOR, WANTED)),
    );
    const refused = outcomes.filter((outcome) => outcome.status === 'rejected');
    expect(refused).toHaveLength(7);
    const message = 'The workspace has 50 webhooks, the maximum; delete one first';
    for (const { reason } of refused) expect(reason).toMatchObject({ statusCode: 409, message });
    expect((await audited()).length).toBe(50);
    const [first] = await webhooks.list(acme);
    await webhooks.delete(acme, ACTOR, first!.id);
    expect((await webhooks.create(acme, ACTOR, WANTED)).status).toBe('ACTIVE');
  });

  it('changes of different fields are all kept, and one of two deletions takes effect', async () => {
    const webhooks = managed(OLD);
    const { id } = await webhooks.create(acme, ACTOR, WANTED);
    await Promise.all([
      webhooks.update(acme, ACTOR, id, { url: 'https://example.org/' }),
      webhooks.update(acme, ACTOR, id, { events: ['EMAIL_SENT'] }),
      webhooks.update(acme, ACTOR, id, { token: 'sesame, open' }),
      webhooks.update(acme, ACTOR, id, { status: 'PAUSED' }),
    ]);
    expect(await webhooks.read(acme, id)).toMatchObject({
      url: 'https://example.org/',
      events: ['EMAIL_SENT'],
      token: 'sesame, open',
      status: 'PAUSED',
    });
    const deletions = await Promise.all([1, 2].map(() => webhooks.delete(acme, ACTOR, id)));
    expect(deletions.filter((deleted) => deleted !== undefined)).toHaveLength(1);
  });
});
