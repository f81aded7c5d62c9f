import { afterAll, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { DnsServer } from '@posthorn/testing';
import { type Api, emailIn, type ShownEmail } from './api.ts';
import type { ShownIdentity } from './identities.ts';
import { headerValues } from './mail.ts';
import { addSigningDomain, BOTH, verified } from './signatures.ts';
import { newRecipient, Stack, until } from './stack.ts';
import { validTemplate } from './templates.ts';

let dns: DnsServer;
let domains = 0;
const stack = Stack.forTests(async () => {
  dns = await DnsServer.start();
  return { env: { DNS_SERVERS: dns.address, FEEDBACK_SENDER_ID: 'posthorn-test' } };
});
afterAll(() => dns.close());

const api = (): Api => stack.apiAs(stack.tenant.keys.editor);

/** A verified domain whose keys for these purposes are published. */
const addDomain = (...purposes: readonly string[]): Promise<ShownIdentity> =>
  addSigningDomain(api(), dns, `signed${(domains += 1)}.example.net`, purposes);

async function sendFrom({ value }: ShownIdentity): Promise<ShownEmail> {
  return emailIn(await stack.send({ from: `Shop <hello@${value}>`, to: newRecipient(), subject: 'Grüße' }));
}

describe('An email of a domain with published keys', () => {
  it('is signed with both, for the domain of its sender, and the signatures verify', async () => {
    const domain = await addDomain(...BOTH);
    const { to } = await sendFrom(domain);
    expect(await verified(dns, await stack.onlyMailTo(to))).toEqual([
      ['pass', domain.value, 'rsa-sha256'],
      ['pass', domain.value, 'ed25519-sha256'],
    ]);
  });

  it('S18: is previewed with its signatures, byte for byte', async () => {
    const { id, to } = await sendFrom(await addDomain(...BOTH));
    const { raw } = await stack.onlyMailTo(to);
    const { body } = await api().get(`/v1/emails/${id}/preview`);
    expect((body['preview'] as { message: string }).message).toBe(raw.toString('utf8'));
    expect(raw.toString('utf8')).toMatch(/^DKIM-Signature: /);
  });

  it('names its template and its workspace for Gmail’s feedback loop, and nothing that the caller wrote', async () => {
    const { value } = await addDomain(...BOTH);
    const from = `hello@${value}`;
    const { workspaceId } = stack.tenant;
    const { body } = await api().post('/v1/templates', validTemplate({ from }));
    const { id, name } = body['template'] as { id: string; name: string };
    const raw = { from, to: newRecipient(), groupBy: 'secret-group' };
    const templated = { template: name, to: newRecipient(), variables: { firstName: 'Ada' } };
    await stack.send(raw);
    expect((await api().post('/v1/emails', templated)).status).toBe(200);
    for (const [to, feedbackId] of [
      [raw.to, `${workspaceId}:posthorn-test`],
      [templated.to, `${id}:${workspaceId}:posthorn-test`],
    ] as const) {
      const mail = await stack.onlyMailTo(to);
      expect(headerValues(mail, 'Feedback-ID')).toEqual([feedbackId]);
      expect(headerValues(mail, 'DKIM-Signature').join()).toContain('feedback-id:feedback-id');
      expect(headerValues(mail, 'Auto-Submitted')).toEqual([]);
      expect((await verified(dns, mail)).map(([result]) => result)).toEqual(['pass', 'pass']);
      expect(mail.raw.toString()).not.toContain('secret-group');
    }
  });

  it('is signed only with keys that were found in the DNS', async () => {
    const domain = await addDomain('DKIM_RSA');
    const { to } = await sendFrom(domain);
    expect(await verified(dns, await stack.onlyMailTo(to))).toEqual([['pass', domain.value, 'rsa-sha256']]);
  });

  it('S6: is not signed with keys of another domain, a parent domain, or the same domain of another workspace', async () => {
    const { value } = await addDomain(...BOTH);
    const other = await stack.createTenant('Other');
    await vouchFor(`mail.${value}`, stack.tenant.workspaceId);
    await vouchFor(value, other.workspaceId);
    const froms = [
      [`a@mail.${value}`, stack.tenant.keys.apiUser],
      [`a@${value}`, other.keys.apiUser],
      ['a@example.com', stack.tenant.keys.apiUser],
    ] as const;
    for (const [from, key] of froms) {
      const { to } = emailIn(await stack.send({ from, to: newRecipient() }, { key }));
      expect(headerValues(await stack.onlyMailTo(to), 'DKIM-Signature')).toEqual([]);
    }
  });
});

async function vouchFor(domain: string, workspaceId: string): Promise<void> {
  await stack.database.pool.query(
    `INSERT INTO identities (id, workspace_id, kind, value, status, is_vouched, verified_at)
     VALUES (gen_random_uuid(), $1, 'domain', $2, 'VERIFIED', true, now())`,
    [uuidOf(workspaceId as never), domain],
  );
}

describe('An email whose key cannot be decrypted', () => {
  async function timelineOf(id: string): Promise<ShownEmail['timeline']> {
    return emailIn<ShownEmail>(await api().get(`/v1/emails/${id}`)).timeline;
  }

  async function damagedDomain(): Promise<ShownIdentity> {
    const domain = await addDomain(...BOTH);
    await stack.database.pool.query(
      `UPDATE dkim_keys SET private_key = '\\x0103' || private_key WHERE identity_id = $1 AND algorithm = 'rsa'`,
      [uuidOf(domain.id as never)],
    );
    return domain;
  }

  it('waits, while its preview answers 503, and is signed when the key can be decrypted again', async () => {
    const domain = await damagedDomain();
    const { id, to } = await sendFrom(domain);
    await until(async () => (await timelineOf(id)).length > 1, 'the email was tried');
    expect((await timelineOf(id)).at(-1)).toMatchObject({ event: 'DELAYED', reason: 'unsignable' });
    const preview = await api().get(`/v1/emails/${id}/preview`);
    expect([preview.status, preview.text]).toEqual([
      503,
      expect.stringContaining('cannot be signed right now'),
    ]);
    await stack.sender.program.waitForOutput(`Emails of ${domain.value} cannot be signed`);

    await stack.database.pool.query(
      `UPDATE dkim_keys SET private_key = substr(private_key, 3) WHERE identity_id = $1 AND algorithm = 'rsa'`,
      [uuidOf(domain.id as never)],
    );
    await makeDue(id);
    expect((await verified(dns, await stack.onlyMailTo(to))).map(([result]) => result)).toEqual([
      'pass',
      'pass',
    ]);
  });

  it('is sent after an hour with the signatures that are possible', async () => {
    const domain = await damagedDomain();
    const { id, to } = await sendFrom(domain);
    await until(async () => (await timelineOf(id)).length > 1, 'the email was tried');
    await makeDue(id, 4);
    expect(await verified(dns, await stack.onlyMailTo(to))).toEqual([
      ['pass', domain.value, 'ed25519-sha256'],
    ]);
  });

  async function makeDue(id: string, attempts?: number): Promise<void> {
    await stack.database.pool.query(
      'UPDATE outbox SET due_at = now(), attempts = coalesce($2, attempts) WHERE subject_id = $1',
      [uuidOf(id as never), attempts ?? null],
    );
  }
});
