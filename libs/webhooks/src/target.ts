import {
  type AddressAnswer,
  faultInWebhookHost,
  faultInWebhookUrl,
  mayConnectTo,
  parseAddress,
  type PostFailure,
  type WebhookUrlPolicy,
} from '@posthorn/domain';
import { remembered } from './remembered.ts';

const MOST_REMEMBERED = 2_000;

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
  private readonly readUrl: (url: string) => Place | PostFailure;
  private readonly mayConnect: (address: string) => boolean;

  constructor(policy: WebhookUrlPolicy) {
    this.readUrl = remembered((url) => readPlace(url, policy), MOST_REMEMBERED);
    this.mayConnect = remembered((address) => mayConnectTo(address, policy.networks), MOST_REMEMBERED);
  }

  /** The place of a URL, if it may be posted to as far as the URL says. */
  judgeUrl(url: string): Place | PostFailure {
    return this.readUrl(url);
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
      : blocked('the name leads to an address that is not public');
  }

  /** Whether a connection led where it may. That it did is not left to what lies between here and the operating system. */
  mayStayAt(address: string): boolean {
    return this.mayConnect(address);
  }
}

/** Whether a judgement went against it. */
export function isFailure(judged: object): judged is PostFailure {
  return 'reason' in judged;
}

function readPlace(text: string, policy: WebhookUrlPolicy): Place | PostFailure {
  const fault = faultInWebhookUrl(text) ?? faultInWebhookHost(text, policy);
  if (fault !== undefined) return blocked(`the URL ${fault}`);
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
  if (answer.kind === 'absent')
    return { kind: 'failed', errorClass: 'dns', reason: 'the name has no address' };
  const { reason, isOurs } = answer;
  return isOurs ? { kind: 'ours', reason } : { kind: 'failed', errorClass: 'dns', reason };
}

/** The address stays unsaid: what a name means inside of the operator's network is not for everybody. */
function blocked(reason: string): PostFailure {
  return { kind: 'failed', errorClass: 'blocked', reason };
}
