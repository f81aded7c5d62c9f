import { randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { AuditLogStore, SEALED_COLUMNS, sealContextOf, SealedSecretStore } from '@posthorn/database';
import { operator } from '@posthorn/domain';
import { newUuid, SYSTEM_WORKSPACE_ID, uuidOf } from '@posthorn/kernel';
import { parseKeyRing, SecretBox } from '@posthorn/signing';
import { rotateSecrets } from './rotate-secrets.ts';
import { openTestDatabase } from '../open-test-database.fixture.ts';

const KEYS = ['old', 'new', 'newest'].map((id) => `${id}:${randomBytes(32).toString('base64')}`);
const COLUMN = SEALED_COLUMNS.invitationMail;
const INVITATION = newUuid(Date.now());
/** More than two groups. */
const MANY = 450;
const TESTS = operator('tests');

const database = await openTestDatabase();
const store = new SealedSecretStore(database);
await database.pool.query(
  `INSERT INTO invitations (id, workspace_id, email, role, token_hash, created_at, expires_at) VALUES ($1, $2, 'ada@example.com', 'EDITOR', sha256('token'), now(), now() + interval '1 day')`,
  [INVITATION, uuidOf(SYSTEM_WORKSPACE_ID)],
);

const [oldBox, rotatingBox, newBox] = [[0], [1, 0], [1]].map((keys) => {
  const parsed = parseKeyRing(keys.map((key) => KEYS[key]!).join(','));
  if ('fault' in parsed) throw new Error(parsed.fault);
  return new SecretBox(parsed.ring);
}) as [SecretBox, SecretBox, SecretBox];

beforeEach(() => database.pool.query('DELETE FROM invitation_mails'));

async function keep(secret: string | null, box = oldBox): Promise<string> {
  const id = newUuid(Date.now());
  const sealed = secret === null ? null : box.seal(secret, sealContextOf(COLUMN, id));
  await database.pool.query(
    `INSERT INTO invitation_mails (id, workspace_id, invitation_id, address_hash, sealed_mail, created_at) VALUES ($1, $2, $3, sha256('ada@example.com'), $4, now())`,
    [id, uuidOf(SYSTEM_WORKSPACE_ID), INVITATION, sealed],
  );
  return id;
}

async function kept(id: string, box: SecretBox): Promise<string> {
  const { rows } = await database.pool.query<{ sealed: Buffer }>(
    'SELECT sealed_mail AS sealed FROM invitation_mails WHERE id = $1',
    [id],
  );
  return box.open(rows[0]!.sealed, sealContextOf(COLUMN, id)).toString();
}

describe('Rotating the encryption key', () => {
  it('encrypts everything again, in groups, so that the old key can be removed', async () => {
    const ids: string[] = [];
    for (let n = 0; n < MANY; n += 1) ids.push(await keep(`mail ${n}`));
    await keep(null);
    expect(await rotateSecrets(store, TESTS, rotatingBox)).toEqual({
      key: 'new',
      sealedAnew: MANY,
    });
    for (const [n, id] of ids.entries()) expect(await kept(id, newBox)).toBe(`mail ${n}`);
  });

  it('does nothing the second time, and nothing to secrets with the new key', async () => {
    await keep('of old');
    await keep('of new', newBox);
    expect(await rotateSecrets(store, TESTS, rotatingBox)).toEqual({ key: 'new', sealedAnew: 1 });
    expect(await rotateSecrets(store, TESTS, rotatingBox)).toEqual({ key: 'new', sealedAnew: 0 });
  });

  it('may run twice concurrently', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 50; n += 1) ids.push(await keep(`mail ${n}`));
    await Promise.all([1, 2].map(() => rotateSecrets(store, TESTS, rotatingBox)));
    for (const [n, id] of ids.entries()) expect(await kept(id, newBox)).toBe(`mail ${n}`);
  });

  it('keeps a secret that was changed while it was being encrypted', async () => {
    const id = await keep('before');
    const racing = {
      listOthers: async (...asked: Parameters<SealedSecretStore['listOthers']>) => {
        const found = await store.listOthers(...asked);
        await database.pool.query('UPDATE invitation_mails SET sealed_mail = $1', [
          oldBox.seal('changed', sealContextOf(COLUMN, id)),
        ]);
        return found;
      },
      replace: store.replace.bind(store),
      record: store.record.bind(store),
    };
    await rotateSecrets(racing, TESTS, rotatingBox);
    expect(await kept(id, oldBox)).toBe('changed');
  });

  it('goes on after a secret that cannot be decrypted, and reports it with the reason at the end', async () => {
    const [, , newest] = KEYS;
    const parsed = parseKeyRing(newest!);
    const foreign = await keep('foreign', new SecretBox('ring' in parsed ? parsed.ring : ([] as never)));
    const id = await keep('mine');
    const recorded: object[] = [];
    const watched = {
      listOthers: store.listOthers.bind(store),
      replace: store.replace.bind(store),
      record: (...[actor, detail]: Parameters<SealedSecretStore['record']>) => {
        recorded.push(detail);
        return store.record(actor, detail);
      },
    };
    await expect(rotateSecrets(watched, TESTS, rotatingBox)).rejects.toThrow(
      `1 secrets were re-encrypted, 1 could not be, the first of them invitation_mails ${foreign}: A stored secret cannot be decrypted: the key newest is not in ENCRYPTION_KEYS`,
    );
    expect(await kept(id, newBox)).toBe('mine');
    expect(recorded).toEqual([
      { key: 'new', begun: true },
      { key: 'new', sealedAnew: 1, notOpened: 1 },
    ]);
  });

  it('is recorded in the audit log at its begin and end, and not where there was nothing to do', async () => {
    const log = async (): Promise<unknown[]> => {
      const page = { limit: 100, sort: 'createdAt.asc' } as const;
      const { items } = await new AuditLogStore(database).list(SYSTEM_WORKSPACE_ID, page);
      return items.map(({ action, actor, detail }) => ({ action, actor, detail }));
    };
    const before = (await log()).length;
    await keep('a mail');
    await rotateSecrets(store, TESTS, rotatingBox);
    await rotateSecrets(store, TESTS, rotatingBox);
    const rotated = { action: 'secrets.rotated', actor: TESTS };
    const entries = (await log()).slice(before);
    // Entries of the same millisecond are in no order.
    expect(entries).toEqual(
      expect.arrayContaining([
        { ...rotated, detail: { key: 'new', begun: true } },
        { ...rotated, detail: { key: 'new', sealedAnew: 1, notOpened: 0 } },
      ]),
    );
    expect(entries).toHaveLength(2);
    const breaksOff = {
      listOthers: store.listOthers.bind(store),
      record: store.record.bind(store),
      replace: () => Promise.reject(new Error('killed')),
    };
    await keep('another');
    await expect(rotateSecrets(breaksOff, TESTS, rotatingBox)).rejects.toThrow('killed');
    expect((await log()).slice(before + 2)).toEqual([{ ...rotated, detail: { key: 'new', begun: true } }]);
  });
});
