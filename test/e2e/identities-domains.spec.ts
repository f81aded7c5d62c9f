import { createPublicKey } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { DnsServer } from '@posthorn/testing';
import type { Api } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { addIdentity, identityIn, recordOf, type ShownIdentity, type ShownRecord } from './identities.ts';
import { validEmail, Stack, type Tenant, until } from './stack.ts';

const SLOW_MS = 400;
const TIMEOUT_MS = 5_000;
/** So long the result of a check is returned without another one. */
const RESULT_STAYS_MS = 5_000;

let dns: DnsServer;
let tenant: Tenant;
let domains = 0;
const stack = Stack.forTests(async () => {
  dns = await DnsServer.start();
  const env = {
    DNS_SERVERS: dns.address,
    DNS_TIMEOUT_MS: String(TIMEOUT_MS),
    SPF_INCLUDE: '_spf.relay.example',
  };
  return { env, sends: false };
});
afterAll(() => dns.close());
beforeEach(async () => {
  tenant = await stack.createTenant('Domains');
});

const api = (key = tenant.keys.editor): Api => stack.apiAs(key);
const newDomain = (): string => `shop${(domains += 1)}.example.net`;
const verify = async ({ id }: ShownIdentity): Promise<ShownIdentity> =>
  identityIn(await api().post(`/v1/identities/${id}/verify`, ''));

/** Splits a value into the strings of a TXT record. */
const strings = ({ value }: ShownRecord): string[] => value!.match(/.{1,255}/g)!;

describe('POST /v1/identities: a domain', () => {
  it('G1, G8: is added with the records that it should have, two keys among them', async () => {
    const domain = newDomain();
    const added = await addIdentity(api(), { domain: domain.toUpperCase() });
    expect(added).toMatchObject({ kind: 'domain', value: domain, status: 'PENDING', verifiedAt: null });
    expect(added.id).toMatch(/^idn_[0-9a-z]{26}$/);
    expect(added.records.map(({ purpose, isRequired, status }) => [purpose, isRequired, status])).toEqual([
      ['DKIM_RSA', true, 'UNCHECKED'],
      ['DKIM_ED25519', false, 'UNCHECKED'],
      ['SPF', false, 'UNCHECKED'],
      ['DMARC', false, 'UNCHECKED'],
    ]);
    const [rsa, ed25519, spf, dmarc] = added.records as [never, never, never, never] & typeof added.records;
    expect([spf, dmarc]).toMatchObject([
      { name: domain, value: 'v=spf1 include:_spf.relay.example ~all' },
      { name: `_dmarc.${domain}`, value: 'v=DMARC1; p=none' },
    ]);
    expect(keyIn(rsa).asymmetricKeyDetails).toMatchObject({ modulusLength: 2048 });
    expect((ed25519 as { value: string }).value).toMatch(/^v=DKIM1; k=ed25519; p=[A-Za-z0-9+/]{43}=$/);
    expect((rsa as { name: string }).name).toMatch(
      new RegExp(`^ph-[0-9a-z]{10}-rsa\\._domainkey\\.${domain}$`),
    );
  });

  it('stores private keys only encrypted', async () => {
    const { value } = await addIdentity(api(), { domain: newDomain() });
    const { rows } = await stack.database.pool.query<{ sealed: Buffer }>(
      'SELECT private_key AS sealed FROM dkim_keys JOIN identities i ON i.id = identity_id WHERE value = $1',
      [value],
    );
    expect(rows).toHaveLength(2);
    // PKCS #8 begins with a sequence, a version 0 and the identifier of the algorithm.
    for (const { sealed } of rows) expect(sealed.includes(Buffer.from('02010030', 'hex'))).toBe(false);
  });

  it('may be in two workspaces, each with its own keys and record names', async () => {
    const domain = newDomain();
    const one = await addIdentity(api(), { domain });
    tenant = await stack.createTenant('Other');
    const other = await addIdentity(api(), { domain });
    expect(recordOf(one, 'DKIM_RSA').name).not.toBe(recordOf(other, 'DKIM_RSA').name);
    expect(recordOf(one, 'DKIM_RSA').value).not.toBe(recordOf(other, 'DKIM_RSA').value);
  });

  it('is refused with 409 when it exists already, also in concurrent calls', async () => {
    const domain = newDomain();
    const answers = await Promise.all([1, 2, 3].map(() => api().post('/v1/identities', { domain })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    const { body } = answers.find(({ status }) => status === 409)!;
    expect(body['message']).toMatch(/^`domain` is an identity of the workspace already, idn_\w+;/);
  });

  it('is refused with 409 when the workspace has the maximum number', async () => {
    await stack.database.pool.query(
      `INSERT INTO identities (id, workspace_id, kind, value)
       SELECT gen_random_uuid(), $1, 'domain', n || '.example.org' FROM generate_series(1, 199) n`,
      [uuidOf(tenant.workspaceId)],
    );
    const refused = await api().post('/v1/identities', { domain: newDomain() });
    expectRefusal(refused, 409, 'has 200 identities, the maximum');
  });

  it('A4: is listed and read by any role', async () => {
    const { id } = await addIdentity(api(), { domain: newDomain() });
    for (const key of [tenant.keys.apiUser, tenant.keys.viewer]) {
      expect((await api(key).get(`/v1/identities/${id}`)).status).toBe(200);
      expect((await api(key).get('/v1/identities')).status).toBe(200);
    }
  });

  it.each([
    [{}, '`address` and `domain` are both missing'],
    [{ domain: 'example.org', address: 'a@example.org' }, 'are both given'],
    [{ domain: 'localhost' }, '`domain` has the domain `localhost`, which has no dot'],
    [{ domain: 'https://example.org' }, '`domain` is more than a domain'],
    [{ domain: `${'a.'.repeat(115)}example.org` }, 'leaves no room'],
    [{ domain: 7 }, '`domain` is a number'],
    [{ address: 'Ada <ada@example.org>' }, '`address` has a name beside it'],
    [{ domian: 'example.org' }, '`domian`'],
  ])('G3, G4: %j is refused', async (body, names) => {
    expectRefusal(await api().post('/v1/identities', body), 400, names);
  });
});

describe('POST /v1/identities/{id}/verify: a domain', () => {
  it('S6: may be sent from as soon as its key is found, and no subdomain of it', async () => {
    const domain = newDomain();
    const added = await addIdentity(api(), { domain });
    const from = `shop@${domain}`;
    expectRefusal(
      await api().post('/v1/emails', { ...validEmail(), from }),
      400,
      `\`POST /v1/identities/${added.id}/verify\``,
    );

    const rsa = recordOf(added, 'DKIM_RSA');
    dns.set(rsa.name, { txt: [strings(rsa)] });
    const verified = await verify(added);
    expect(verified).toMatchObject({ status: 'VERIFIED', verifiedAt: expect.any(String) });
    expect(recordOf(verified, 'DKIM_RSA')).toMatchObject({ status: 'FOUND', found: [rsa.value] });
    expect(recordOf(verified, 'SPF')).toMatchObject({ status: 'MISSING', found: [] });
    expect((await api().post('/v1/emails', { ...validEmail(), from })).status).toBe(200);
    const below = `shop@mail.${domain}`;
    expectRefusal(
      await api().post('/v1/emails', { ...validEmail(), from: below }),
      400,
      'neither a verified',
    );
  });

  it.each([
    ['missing', undefined, 'MISSING', 'There is no TXT record at this name', []],
    ['another key', { txt: ['v=DKIM1; k=rsa; p=AAAA'] }, 'WRONG', 'The record ', ['v=DKIM1; k=rsa; p=AAAA']],
    ['SERVFAIL', { rcode: 'SERVFAIL' }, 'UNANSWERED', '(SERVFAIL)', []],
    ['garbage', 'garbage', 'UNANSWERED', 'The look-up failed', []],
    ['silence', 'silent', 'UNANSWERED', 'in time', []],
  ] as const)(
    'explains the state of a record that is answered with %s',
    async (_, behaviour, status, says, found) => {
      const added = await addIdentity(api(), { domain: newDomain() });
      const { name } = recordOf(added, 'DKIM_RSA');
      if (behaviour !== undefined) dns.set(name, behaviour);
      const checked = await verify(added);
      expect(checked.status).toBe('PENDING');
      expect(recordOf(checked, 'DKIM_RSA')).toMatchObject({ status, found });
      expect(recordOf(checked, 'DKIM_RSA').message).toMatch(
        says === 'in time' ? /within \d+ ms|in time/ : says,
      );
    },
  );

  it('finds a key through a CNAME, and from a slow name server', async () => {
    const added = await addIdentity(api(), { domain: newDomain() });
    const rsa = recordOf(added, 'DKIM_RSA');
    dns.set(rsa.name, { cname: `keys.${added.value}` });
    dns.set(`keys.${added.value}`, { txt: [strings(rsa)] });
    dns.set(recordOf(added, 'DKIM_ED25519').name, {
      txt: [recordOf(added, 'DKIM_ED25519').value!],
      delayMs: SLOW_MS,
    });
    const checked = await verify(added);
    expect(checked.status).toBe('VERIFIED');
    expect(recordOf(checked, 'DKIM_ED25519').status).toBe('FOUND');
  });

  it('says where a record is that was set at another name, and what to enter; it verifies nothing', async () => {
    const zone = newDomain();
    const added = await addIdentity(api(), { domain: `mail.${zone}` });
    const [rsa, ed25519] = [recordOf(added, 'DKIM_RSA'), recordOf(added, 'DKIM_ED25519')];
    const misplaced = [`${rsa.name}.${zone}`, ed25519.name.replace('.mail.', '.')];
    dns.set(misplaced[0]!, { txt: [strings(rsa)] });
    dns.set(misplaced[1]!, { txt: [strings(ed25519)] });
    const checked = await verify(added);
    expect(checked.status).toBe('PENDING');
    for (const [index, { purpose, name }] of [rsa, ed25519].entries()) {
      expect(recordOf(checked, purpose)).toMatchObject({
        status: 'MISSING',
        message: `The record is at \`${misplaced[index]}\` instead of this name; if your DNS provider appends \`.${zone}\` to what is entered as the name, enter \`${name.replace(`.${zone}`, '')}\``,
        found: [],
      });
    }
  });

  it('finds the DMARC record that a subdomain inherits, whatever a wildcard record answers at its own names', async () => {
    const zone = newDomain();
    const added = await addIdentity(api(), { domain: `mail.${zone}` });
    dns.set(`_dmarc.${zone}`, { txt: ['v=DMARC1; p=none; sp=reject'] });
    for (const { name } of added.records) dns.set(name, { txt: ['v=spf1 -all'] });
    const checked = await verify(added);
    expect(recordOf(checked, 'DMARC')).toMatchObject({
      status: 'FOUND',
      message: `The DMARC record of \`${zone}\` applies, with the policy \`reject\``,
    });
    expect(recordOf(checked, 'DKIM_RSA')).toMatchObject({
      status: 'WRONG',
      message: expect.stringContaining('may come from a wildcard record'),
    });
  });

  const queriesFor = (identity: ShownIdentity): number => {
    const { name } = recordOf(identity, 'DKIM_RSA');
    return dns.queries.filter((query) => query.name === name).length;
  };

  /** Lets a new domain be verified, and another one if a busy machine took so long that it is checked again. @returns it, and the results */
  async function verifiedSoon(
    verifyAll: (added: ShownIdentity) => Promise<ShownIdentity[]>,
  ): Promise<[ShownIdentity, ShownIdentity[]]> {
    for (;;) {
      const added = await addIdentity(api(), { domain: newDomain() });
      const begunAt = performance.now();
      const results = await verifyAll(added);
      if (performance.now() - begunAt < RESULT_STAYS_MS) return [added, results];
    }
  }

  it('returns the same result when it is called again at once, without a DNS query', async () => {
    let before = 0;
    const [added, [first, second]] = await verifiedSoon(async (one) => {
      const result = await verify(one);
      before = queriesFor(one);
      return [result, await verify(one)];
    });
    expect(second).toEqual(first);
    expect(queriesFor(added)).toBe(before);
  });

  it('returns the result of one check to concurrent calls', async () => {
    const [added, results] = await verifiedSoon((one) => Promise.all([1, 2, 3].map(() => verify(one))));
    expect(recordOf(results[0]!, 'DKIM_RSA').status).toBe('MISSING');
    expect(results).toEqual([results[0], results[0], results[0]]);
    expect(queriesFor(added)).toBe(1);
  });

  it('keeps a domain verified that an operator has verified, whatever the DNS says', async () => {
    const { body } = await api().get('/v1/identities');
    const [vouched] = (body['identities'] as { items: ShownIdentity[] }).items;
    expect(vouched).toMatchObject({ value: 'example.com', status: 'VERIFIED' });
    const checked = await verify(vouched!);
    expect(checked.status).toBe('VERIFIED');
    expect(recordOf(checked, 'DKIM_RSA').status).toBe('MISSING');
    expect((await api().post('/v1/emails', validEmail())).status).toBe(200);
  });
});

describe('A domain whose verification nobody requests', () => {
  it('is verified by the scheduler, which is recorded in the audit log', async () => {
    const added = await addIdentity(api(), { domain: newDomain() });
    const rsa = recordOf(added, 'DKIM_RSA');
    dns.set(rsa.name, { txt: [strings(rsa)] });
    // As if ten minutes had passed.
    await stack.database.pool.query('UPDATE domain_checks SET due_at = now()');
    await stack.startApp('scheduler');
    const now = async (): Promise<ShownIdentity> => identityIn(await api().get(`/v1/identities/${added.id}`));
    await until(async () => (await now()).status === 'VERIFIED', 'the domain is verified');
    expect(Date.parse((await now()).nextCheckAt!)).toBeGreaterThan(Date.now());
    const { body } = await api().get(`/v1/audit-log?subjectId=${added.id}`);
    const { items } = body['auditLog'] as { items: { action: string; actor: object }[] };
    expect(items.map(({ action }) => action)).toEqual(['identity.verified', 'identity.created']);
  });
});

describe('DELETE /v1/identities/{id}', () => {
  it('ends sending from it at once, and deletes its keys', async () => {
    const added = await addIdentity(api(), { domain: newDomain() });
    const deleted = await api().request('DELETE', `/v1/identities/${added.id}`, undefined);
    expect([deleted.status, deleted.body]).toEqual([
      200,
      { identity: expect.objectContaining({ id: added.id, value: added.value }), isDeleted: true },
    ]);
    expectRefusal(await api().get(`/v1/identities/${added.id}`), 404, 'no identity with this id');
    const keys = 'SELECT count(*)::int FROM dkim_keys WHERE selector = $1';
    const [selector] = recordOf(added, 'DKIM_RSA').name.split('.');
    expect(await stack.count(keys, [selector])).toBe(0);

    const { body } = await api().get('/v1/identities');
    const [vouched] = (body['identities'] as { items: ShownIdentity[] }).items;
    await api().request('DELETE', `/v1/identities/${vouched!.id}`, undefined);
    expectRefusal(await api().post('/v1/emails', validEmail()), 400, 'neither a verified');
  });
});

function keyIn({ value }: { value: string | null }) {
  const [, key] = /p=(\S+)$/.exec(value!)!;
  return createPublicKey({ key: Buffer.from(key!, 'base64'), format: 'der', type: 'spki' });
}
