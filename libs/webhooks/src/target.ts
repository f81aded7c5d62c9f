import {
  type AddressAnswer,
  faultInWebhookHost,
  faultInWebhookUrl,
  mayConnectTo,
  parseAddress,
  type PostFailure,
  type WebhookUrlPolicy,
} from '@posthorn/domain';

/** Looks up the addresses at a name; see `DnsResolver` in `@posthorn/dns`. */
export type LookUpAddresses = (name: string) => Promise<AddressAnswer>;

/** Where a POST goes, and by which addresses it may get there. */
export interface Target {
  readonly url: URL;
  /** A name, or an address without brackets. */
  readonly host: string;
  /** All of them may be connected to. */
  readonly addresses: readonly string[];
}

/**
 * Judges a URL and every address that it leads to, as of now. If one of them may not be connected to, none is: whoever mixes
 * them hopes for the wrong one to be taken.
 */
export async function judgeTarget(
  text: string,
  lookUp: LookUpAddresses,
  policy: WebhookUrlPolicy,
): Promise<Target | PostFailure> {
  const fault = faultInWebhookUrl(text) ?? faultInWebhookHost(text, policy);
  if (fault !== undefined) return blocked(`the URL ${fault}`);
  const url = new URL(text);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  // The addresses of a URL were judged with it.
  if (parseAddress(host) !== undefined) return { url, host, addresses: [host] };
  const answer = await lookUp(host);
  if (answer.kind !== 'found') return nameFault(answer);
  if (!answer.addresses.every((address) => mayConnectTo(address, policy.networks)))
    return blocked('the name leads to an address that is not public');
  return { url, host, addresses: answer.addresses };
}

/** Whether a judgement is a place to go to. */
export function isTarget(judged: Target | PostFailure): judged is Target {
  return 'addresses' in judged;
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
