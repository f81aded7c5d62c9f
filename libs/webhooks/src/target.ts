import {
  type AddressAnswer,
  faultInWebhookHost,
  faultInWebhookUrl,
  mayConnectTo,
  parseAddress,
  type PostFailure,
  type WebhookUrlPolicy,
} from '@posthorn/domain';
import { failed } from './fault.ts';
import { memoize } from './memoize.ts';

const MAX_CACHED = 2_000;

/** Resolves a name to addresses; see `DnsResolver` in `@posthorn/dns`. */
export type LookUpAddresses = (name: string) => Promise<AddressAnswer>;

/** The parsed URL of a POST. */
export interface Place {
  readonly origin: string;
  readonly isSecure: boolean;
  readonly port: number;
  /** Including the query. */
  readonly path: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  /** Whether the host is a name, whose addresses must still be looked up and checked. */
  readonly isName: boolean;
}

/** A URL with the checked addresses of its host. */
export interface Target {
  readonly place: Place;
  /** Connecting is allowed to all of them. */
  readonly addresses: readonly string[];
}

/** Checks URLs and addresses against the policy (protection against SSRF). */
export class TargetPolicy {
  /** Parses a URL, and checks whether the policy allows posting to it, as far as the URL alone shows. */
  readonly parseAndCheck: (url: string) => Place | PostFailure;
  /** Whether the policy allows connecting to an address. */
  readonly mayConnect: (address: string) => boolean;

  constructor(policy: WebhookUrlPolicy) {
    this.parseAndCheck = memoize((url) => readPlace(url, policy), MAX_CACHED);
    this.mayConnect = memoize((address) => mayConnectTo(address, policy.networks), MAX_CACHED);
  }

  /** Checks the addresses of a host name. If one of them is not allowed, all are rejected: mixing them is a sign of an attack (DNS rebinding). */
  checkAnswer(place: Place, answer: AddressAnswer): Target | PostFailure {
    if (answer.kind !== 'found') return nameFault(answer);
    const { addresses } = answer;
    return addresses.every((address) => this.mayConnect(address))
      ? { place, addresses }
      : // The message does not contain the address: how names resolve inside the operator's network is not public.
        failed('blocked', 'the name resolves to an address that is not public');
  }
}

/** Whether a result is a failure. */
export function isFailure(result: object): result is PostFailure {
  return 'reason' in result;
}

function readPlace(text: string, policy: WebhookUrlPolicy): Place | PostFailure {
  const fault = faultInWebhookUrl(text) ?? faultInWebhookHost(text, policy);
  if (fault !== undefined) return failed('blocked', `the URL ${fault}`);
  const { origin, protocol, port, pathname, search, hostname } = new URL(text);
  const isSecure = protocol === 'https:';
  const host = hostname.replace(/^\[|\]$/g, '');
  return {
    origin,
    isSecure,
    port: Number(port) || (isSecure ? 443 : 80),
    path: pathname + search,
    host,
    isName: parseAddress(host) === undefined,
  };
}

function nameFault(answer: Exclude<AddressAnswer, { kind: 'found' }>): PostFailure {
  if (answer.kind === 'absent') return failed('dns', 'the name has no address');
  const { reason, isOurs } = answer;
  return isOurs ? { kind: 'ours', reason } : failed('dns', reason);
}
