import {
  type AddressAnswer,
  advice,
  expectedRecords,
  fault,
  type Finding,
  good,
  isLoopback,
  type TxtAnswer,
  unknown,
} from '@posthorn/domain';
import { FindRecords } from '../identities/find-records.ts';
import type { TxtResolver } from '../identities/txt-resolver.ts';
import type { Check } from './examine.ts';

/** A domain that certainly exists: name servers are asked about it, whatever their answer. */
const KNOWN_DOMAIN = 'example.com';

/** Sends DNS queries. */
interface NameServers extends TxtResolver {
  lookUpMailHosts(domain: string): Promise<TxtAnswer>;
  lookUpAddresses(name: string): Promise<AddressAnswer>;
}

interface DnsChecksOptions {
  readonly dns: NameServers;
  /** Undefined: returned mail does not go to Posthorn. */
  readonly bounceDomain: string | undefined;
  /** Whether emails leave this machine: then what is returned comes from others, which look for the domain in the DNS. */
  readonly isRelayElsewhere: boolean;
  /** What SPF records must include; undefined: not configured. */
  readonly spfInclude: string | undefined;
}

/** Checks whether name servers answer, where bounces and other returned mail are sent to, and whether the relay may send for that domain. */
export function dnsChecks({ dns, bounceDomain, isRelayElsewhere, spfInclude }: DnsChecksOptions): Check[] {
  const isInDns = bounceDomain !== undefined && !isLoopback(bounceDomain);
  const probe = isInDns ? bounceDomain : KNOWN_DOMAIN;
  const resolver: Check = { name: 'dns.resolver', run: () => judgeResolver(dns, probe) };
  if (bounceDomain === undefined) {
    const unset = advice(
      'BOUNCE_DOMAIN is not set: bounces that are returned as mail go unnoticed',
      'see docs/operations/email.md, Bounces and complaints',
    );
    return [resolver, { name: 'dns.bounces', run: () => Promise.resolve(unset) }];
  }
  if (!isInDns) {
    const local = isRelayElsewhere
      ? fault(
          `only this machine knows ${bounceDomain}: no bounces arrive`,
          'set BOUNCE_DOMAIN to a domain of yours',
        )
      : good(`mail to ${bounceDomain} comes from this machine only`);
    return [resolver, { name: 'dns.bounces', run: () => Promise.resolve(local) }];
  }
  return [
    resolver,
    { name: 'dns.bounces', run: () => judgeMailHosts(dns, bounceDomain) },
    { name: 'dns.bounces-spf', run: () => judgeSpf(dns, bounceDomain, spfInclude) },
  ];
}

async function judgeResolver(dns: NameServers, probe: string): Promise<Finding> {
  const answer = await dns.lookUpTxt(probe);
  return answer.kind === 'failed'
    ? fault(
        `no answer about ${probe}: ${answer.reason}`,
        'see DNS_SERVERS, or /etc/resolv.conf, and that no firewall blocks port 53, for UDP and for TCP',
      )
    : good(`name servers answer (asked about ${probe})`);
}

async function judgeMailHosts(dns: NameServers, domain: string): Promise<Finding> {
  const answer = await dns.lookUpMailHosts(domain);
  if (answer.kind === 'failed')
    return unknown(`whether ${domain} has an MX record is not known: ${answer.reason}`, 'see dns.resolver');
  if (answer.kind === 'absent') return judgeImplicitMailHost(dns, domain);
  // An empty name is that of a domain that takes no mail (RFC 7505).
  const hosts = answer.values.filter((host) => host !== '');
  if (hosts.length === 0)
    return fault(
      `the MX record of ${domain} says that it accepts no mail: no bounces arrive`,
      publishMx(domain),
    );
  const addresses = await Promise.all(hosts.map((host) => dns.lookUpAddresses(host)));
  if (addresses.some(({ kind }) => kind === 'found'))
    return good(`mail to ${domain} goes to ${hosts.join(', ')}`);
  for (const [index, address] of addresses.entries())
    if (address.kind === 'failed')
      return unknown(
        `whether ${hosts[index]}, to which mail to ${domain} goes, has an address is not known: ${address.reason}`,
        'see dns.resolver',
      );
  return fault(
    `${domain} has an MX record for ${hosts.join(', ')}, which has no address: no bounces arrive`,
    'publish an A or AAAA record for that host; an MX record must contain a host, and no IP address',
  );
}

/** Without an MX record, mail goes to the address of the domain itself (RFC 5321, section 5.1). */
async function judgeImplicitMailHost(dns: NameServers, domain: string): Promise<Finding> {
  const answer = await dns.lookUpAddresses(domain);
  if (answer.kind === 'failed')
    return unknown(
      `${domain} has no MX record, and whether it has an address is not known: ${answer.reason}`,
      'see dns.resolver',
    );
  return answer.kind === 'found'
    ? advice(
        `${domain} has no MX record; mail to it goes to its own address, ${answer.addresses.join(', ')}`,
        publishMx(domain),
      )
    : fault(`${domain} has no MX record: no bounces arrive`, publishMx(domain));
}

function publishMx(domain: string): string {
  return `publish ${domain}. MX 10 <the host that leads to inbound>.`;
}

/** Receivers check it for every email, because the return path of all emails is at this domain. */
async function judgeSpf(dns: NameServers, domain: string, spfInclude: string | undefined): Promise<Finding> {
  const wanted = expectedRecords(domain, [], spfInclude).filter(({ purpose }) => purpose === 'SPF');
  const { state, message } = (await new FindRecords(dns).find(domain, wanted))[domain]!;
  if (state === 'FOUND') return good(`${domain}: ${message}`);
  if (state === 'UNANSWERED') return unknown(`${domain}: ${message}`, 'see dns.resolver');
  return advice(
    `${domain}, by which receivers judge every email: ${message}`,
    `publish ${domain}. TXT "v=spf1 include:${spfInclude ?? '<the name that your relay gives>'} -all"`,
  );
}
