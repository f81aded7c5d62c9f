import { Resolver } from 'node:dns/promises';
import type { DnsServer, SinkMessage } from '@posthorn/testing';
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import type { Api } from './api.ts';
import { addIdentity, identityIn, recordOf, type ShownIdentity, type ShownRecord } from './identities.ts';

export const BOTH = ['DKIM_RSA', 'DKIM_ED25519'] as const;

export function publish(dns: DnsServer, { name, value }: ShownRecord): void {
  dns.set(name, { txt: [value!.match(/.{1,255}/g)!] });
}

/** Adds a domain, publishes its records for these purposes, and lets them be verified. */
export async function addSigningDomain(
  api: Api,
  dns: DnsServer,
  domain: string,
  purposes: readonly string[],
): Promise<ShownIdentity> {
  const added = await addIdentity(api, { domain });
  for (const purpose of purposes) publish(dns, recordOf(added, purpose));
  return identityIn(await api.post(`/v1/identities/${added.id}/verify`, ''));
}

/** Verifies the DKIM signatures of a message with mailauth and the keys on `dns`. @returns result, domain and algorithm of each, from the top */
export async function verified(
  dns: DnsServer,
  { raw }: Pick<SinkMessage, 'raw'>,
): Promise<[string, string, string][]> {
  const resolver = new Resolver();
  resolver.setServers([dns.address]);
  const look = (name: string, type: string): Promise<never> => resolver.resolve(name, type) as Promise<never>;
  const { results } = await dkimVerify(raw, { resolver: look });
  return results
    .filter(({ signingDomain }) => signingDomain)
    .map(({ status, signingDomain, algo }) => [status.result, String(signingDomain), String(algo)]);
}
