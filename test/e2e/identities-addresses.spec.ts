import { beforeEach, describe, expect, it } from '@jest/globals';
import type { Answer, Api } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { addIdentity, identityIn, type ShownIdentity } from './identities.ts';
import { parseMail } from './mail.ts';
import { newRecipient, validEmail, Stack, type Tenant } from './stack.ts';

const stack = Stack.forTests();
let tenant: Tenant;
beforeEach(async () => {
  tenant = await stack.createTenant('The <b>shop</b>');
});

const api = (): Api => stack.apiAs(tenant.keys.editor);
const statusOf = async ({ id }: ShownIdentity): Promise<string> =>
  identityIn(await api().get(`/v1/identities/${id}`)).status;

/** Adds an address. @returns the path of the link that was mailed to it */
async function addLinked(): Promise<{ added: ShownIdentity; path: string }> {
  const address = newRecipient();
  const added = await addIdentity(api(), { address });
  const mail = await parseMail(await stack.onlyMailTo(address));
  const [link] = /http\S+\/verify\/identity\/phv_\w+/.exec(mail.text!)!;
  expect(mail.html).toContain(`href="${link}"`);
  return { added, path: new URL(link).pathname };
}

/** Submits a form without fields, like a browser. */
function press(path: string): Promise<Answer> {
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  return api().request('POST', path, '', { key: null, headers });
}

describe('An address', () => {
  it('S6: is verified with the mailed link: the page has a button, which verifies, once', async () => {
    const { added, path } = await addLinked();
    expect(added).toMatchObject({ kind: 'address', status: 'PENDING', records: [] });

    // Mail scanners open links repeatedly.
    for (const method of ['GET', 'HEAD', 'GET']) {
      const looked = await api().request(method, path, undefined, { key: null });
      expect([looked.status, looked.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
      if (method === 'GET') {
        expect(looked.text).toContain('<form method="post"><button>');
        expect(looked.text).toContain('The &lt;b&gt;shop&lt;/b&gt;');
        expect(looked.text).not.toMatch(/<script|https?:|src=/);
      }
      expect(looked.headers.get('content-security-policy')).toMatch(/^default-src 'none'/);
      expect(looked.headers.get('referrer-policy')).toBe('no-referrer');
      expect(looked.headers.get('cache-control')).toBe('no-store');
    }
    expect(await statusOf(added)).toBe('PENDING');
    const email = { ...validEmail(), from: added.value };
    expectRefusal(
      await api().post('/v1/emails', email),
      400,
      `the address ${added.value} is added but not verified`,
    );

    const pressed = await press(path);
    expect([pressed.status, pressed.text]).toEqual([200, expect.stringContaining('Thank you')]);
    expect(await statusOf(added)).toBe('VERIFIED');
    expect((await api().post('/v1/emails', email)).status).toBe(200);
    const neighbour = { ...email, from: newRecipient() };
    expectRefusal(await api().post('/v1/emails', neighbour), 400, 'neither a verified address');

    expect((await press(path)).text).toContain('Thank you');
    expect((await api().get(path, { key: null })).text).not.toContain('<form');
    const told = await stack.count(
      `SELECT count(*)::int FROM audit_log WHERE action = 'identity.verified' AND detail->>'proof' = 'mail'
       AND workspace_id = (SELECT workspace_id FROM identities WHERE value = $1)`,
      [added.value],
    );
    expect(told).toBe(1);
  });

  it('is not verified by a link that has expired, was never issued, or whose identity was deleted', async () => {
    const { added, path } = await addLinked();
    await stack.database.pool.query(
      `UPDATE verification_links SET created_at = created_at - interval '25 h', expires_at = expires_at - interval '25 h'`,
    );
    for (const answer of [await press(path), await api().get(path, { key: null })]) {
      expectRefusal(answer, 410, 'older than 24 hours');
    }
    expect(await statusOf(added)).toBe('PENDING');

    const last = path.at(-1) === 'a' ? 'b' : 'a';
    for (const bad of [
      path.slice(0, -1) + last,
      '/verify/identity/x',
      `/verify/identity/${'%00'.repeat(9)}`,
    ]) {
      expectRefusal(await press(bad), 404, 'The link was never made');
    }
    await api().request('DELETE', `/v1/identities/${added.id}`, undefined);
    expectRefusal(await press(path), 404, 'what it was about is gone');
  });

  it('gets another link on request, but only a limited number', async () => {
    const { added } = await addLinked();
    // The mail may have taken longer than the minute in which there is no other one.
    await stack.database.pool.query(
      'UPDATE verification_links SET created_at = now() WHERE expires_at > now()',
    );
    const again = await api().post(`/v1/identities/${added.id}/verify`, '');
    expectRefusal(again, 429, 'Too many verification mails');
    expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(again.headers.get('retry-after'))).toBeLessThanOrEqual(60);

    await stack.database.pool.query(
      `UPDATE verification_links SET created_at = created_at - interval '61 s'`,
    );
    expect((await api().post(`/v1/identities/${added.id}/verify`, '')).status).toBe(200);
    // Deleting and adding it again does not circumvent the limit.
    await api().request('DELETE', `/v1/identities/${added.id}`, undefined);
    expectRefusal(await api().post('/v1/identities', { address: added.value }), 429, 'Too many');
  });

  it('leaves neither its link nor itself in the logs', async () => {
    const { added, path } = await addLinked();
    await press(path);
    expect(stack.logs).not.toContain(path.split('/').at(-1));
    expect(stack.logs).not.toContain(added.value);
  });
});
