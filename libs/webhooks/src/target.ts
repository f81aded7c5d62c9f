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
import { remembered } from './remembered.ts';

const MAX_CACHED = 2_000;

/** Looks up the addresses at a name; see `DnsResolver` in `@posthorn/dns`. */
export type LookUpAddresses = (name: string) => Promise<AddressAnswer>;

/** Where a POST goes, as far as its URL says. */
export interface Place {
  readonly origin: string;
  readonly isSecure: boolean;
  readonly port: number;
  /** With the query. */
  readonly path: string;
  /** A name, or an address without brackets. */
  readonly host: string;
  /** Whether the host is a name, whose addresses are still to be judged. */
  readonly isName: boolean;
}

/** A place, and by which addresses a POST may get there. */
export interface Target {
  readonly place: Place;
  /** All of them may be connected to. */
  readonly addresses: readonly string[];
}

/** Judges where a URL leads. */
export class TargetJudge {
  /** The place of a URL, if it may be posted to as far as the URL says. */
  readonly judgeUrl: (url: string) => Place | PostFailure;
  /** Whether an address may be connected to. */
  readonly mayConnect: (address: string) => boolean;

  constructor(policy: WebhookUrlPolicy) {
    this.judgeUrl = remembered((url) => readPlace(url, policy), MAX_CACHED);
    this.mayConnect = remembered((address) => mayConnectTo(address, policy.networks), MAX_CACHED);
  }

  /**
   * Judges every address at the name of a place, as of now. If one of them may not be connected to, none is: whoever mixes them hopes
   * for the wrong one to be taken.
   */
  judgeAnswer(place: Place, answer: AddressAnswer): Target | PostFailure {
    if (answer.kind !== 'found') return nameFault(answer);
    const { addresses } = answer;
    return addresses.every((address) => this.mayConnect(address))
      ? { place, addresses }
      : // The address stays unsaid: what a name means inside of the operator's network is not for everybody.
        failed('blocked', 'the name leads to an address that is not public');
  }
}

/** Whether a judgement went against it. */
export function isFailure(judged: object): judged is PostFailure {
  return 'reason' in judged;
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
