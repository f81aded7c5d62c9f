import { afterAll, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { DnsServer } from '@posthorn/testing';
import { type Api, emailIn } from './api.ts';
import { expectRefusal } from './bad-input/refusal.ts';
import { addIdentity, identityIn, recordOf, type ShownIdentity, type ShownRecord } from './identities.ts';
import { headerValues } from './mail.ts';
import { addSigningDomain, BOTH, publish, verified } from './signatures.ts';
import { newRecipient, Stack } from './stack.ts';

let dns: DnsServer;
let domains = 0;
const stack = Stack.forTests(async () => {
  dns = await DnsServer.start();
  return { env: { DNS_SERVERS: dns.address } };
});
afterAll(() => dns.close());

const api = (): Api => stack.apiAs(stack.tenant.keys.editor);

/** A verified domain whose keys for these purposes are published. */
const addDomain = (...purposes: readonly string[]): Promise<ShownIdentity> =>
  addSigningDomain(api(), dns, `rotated${(domains += 1)}.example.net`, purposes);

describe('POST /v1/identities/{id}/rotate-keys', () => {
  const rotate = async ({ id }: ShownIdentity): Promise<ShownIdentity> =>
    identityIn(await api().post(`/v1/identities/${id}/rotate-keys`, ''));
  const keysOf = ({ records }: ShownIdentity): (string | null)[][] =>
    records.filter(({ stage }) => stage !== null).map(({ stage, purpose }) => [stage, purpose]);
  const newKeysOf = ({ records }: ShownIdentity): ShownRecord[] =>
    records.filter(({ stage }) => stage === 'NEXT');
  const selectorsOf = async ({ value }: ShownIdentity): Promise<string[]> => {
    const { to } = emailIn(await stack.send({ from: `a@${value}`, to: newRecipient() }));
    const mail = await stack.onlyMailTo(to);
    expect((await verified(dns, mail)).map(([result]) => result)).toEqual(['pass', 'pass']);
    return headerValues(mail, 'DKIM-Signature').map((value) => / s=([^;]+);/.exec(value)![1]!);
  };
  const selectorIn = ({ name }: ShownRecord): string => name.split('.')[0]!;

  /** Checks a domain as if this interval had passed. */
  async function lookAfter({ id }: ShownIdentity, interval: string): Promise<ShownIdentity> {
    for (const [table, column] of [
      ['dkim_keys', 'published_at'],
      ['dkim_keys', 'retired_at'],
      ['domain_checks', 'checked_at'],
    ])
      await stack.database.pool.query(
        `UPDATE ${table} SET ${column} = ${column} - $2::interval WHERE identity_id = $1`,
        [uuidOf(id as never), interval],
      );
    return identityIn(await api().post(`/v1/identities/${id}/verify`, ''));
  }

  it('switches to new keys when they have been in the DNS for an hour, and every email can be verified', async () => {
    const domain = await addDomain(...BOTH);
    const old = domain.records.filter(({ stage }) => stage === 'CURRENT').map(selectorIn);
    expect(await selectorsOf(domain)).toEqual(old);

    const begun = await rotate(domain);
    expect(keysOf(begun)).toEqual([
      ['CURRENT', 'DKIM_RSA'],
      ['CURRENT', 'DKIM_ED25519'],
      ['NEXT', 'DKIM_RSA'],
      ['NEXT', 'DKIM_ED25519'],
    ]);
    expect(await rotate(domain)).toEqual(begun);
    const next = newKeysOf(begun);
    expect(keysOf(await lookAfter(domain, '2 h'))).toEqual(keysOf(begun));

    for (const record of next) publish(dns, record);
    const found = await lookAfter(domain, '6 s');
    expect(newKeysOf(found).map(({ status }) => status)).toEqual(['FOUND', 'FOUND']);
    expect(await selectorsOf(domain)).toEqual(old);

    const switched = await lookAfter(domain, '1 h');
    expect(keysOf(switched).map(([stage]) => stage)).toEqual(['CURRENT', 'CURRENT', 'PREVIOUS', 'PREVIOUS']);
    expect(switched).toMatchObject({ status: 'VERIFIED', verifiedAt: domain.verifiedAt });
    expect(await selectorsOf(domain)).toEqual(next.map(selectorIn));
    const sealed = 'SELECT count(private_key)::int FROM dkim_keys WHERE identity_id = $1';
    expect(await stack.count(sealed, [uuidOf(domain.id as never)])).toBe(2);

    const [record] = switched.records.filter(({ stage }) => stage === 'PREVIOUS');
    expect(record!.message).toContain(`Leave the record until ${record!.keepUntil}`);
    const early = await api().post(`/v1/identities/${domain.id}/rotate-keys`, '');
    expectRefusal(early, 409, 'must stay until');

    const over = await lookAfter(domain, '7 days');
    expect(over.records.find(({ stage }) => stage === 'PREVIOUS')!.message).toContain('may be removed');
    for (const { name } of over.records.filter(({ stage }) => stage === 'PREVIOUS'))
      dns.set(name, { rcode: 'NXDOMAIN' });
    expect(keysOf(await lookAfter(domain, '6 s')).map(([stage]) => stage)).toEqual(['CURRENT', 'CURRENT']);

    const { body } = await api().get(`/v1/audit-log?subjectId=${domain.id}`);
    const actions = (body['auditLog'] as { items: { action: string }[] }).items.map(({ action }) => action);
    expect(actions).toEqual([
      'identity.keys_switched',
      'identity.rotation_begun',
      'identity.verified',
      'identity.created',
    ]);
  });

  it('verifies a domain by its new key when that has replaced the old one in the DNS', async () => {
    const domain = await addDomain('DKIM_RSA');
    const begun = await rotate(domain);
    expect(keysOf(begun).filter(([stage]) => stage === 'NEXT')).toEqual([['NEXT', 'DKIM_RSA']]);
    expect(recordOf(begun, 'DKIM_ED25519').name).not.toBe(recordOf(domain, 'DKIM_ED25519').name);
    dns.set(recordOf(domain, 'DKIM_RSA').name, { rcode: 'NXDOMAIN' });
    publish(dns, newKeysOf(begun)[0]!);
    const switched = await lookAfter(domain, '6 s');
    expect(switched.status).toBe('VERIFIED');
    expect(recordOf(switched, 'DKIM_RSA')).toMatchObject({
      name: newKeysOf(begun)[0]!.name,
      status: 'FOUND',
    });
  });

  it('does nothing for an address, and is executed once for concurrent calls', async () => {
    const address = await addIdentity(api(), { address: newRecipient() });
    expectRefusal(await api().post(`/v1/identities/${address.id}/rotate-keys`, ''), 409, 'is an address');
    const domain = await addDomain(...BOTH);
    const [one, ...others] = await Promise.all([1, 2, 3].map(() => rotate(domain)));
    for (const other of others) expect(other.records).toEqual(one!.records);
  });
});
