import { newUuid, withoutTrailing } from '@posthorn/kernel';
import { enumerated, fault, type Finding, good, isLoopback, NAMED, unknown } from '@posthorn/domain';
import { type ExaminedDatabase, throwRefusedConnection } from '@posthorn/database';
import type { LinkSigner } from '@posthorn/signing';
import { askGateway } from './ask-gateway.ts';
import type { Check } from './examine.ts';

/** What is needed to examine the hosts that workspaces have of their own for tracked links. */
interface ExaminedTrackingHosts {
  readonly database: Pick<ExaminedDatabase, 'readTrackingUrls'>;
  readonly signer: LinkSigner;
  /** The URL of all other links; undefined: unset. */
  readonly linksUrl: string | undefined;
}

const MAX_URLS = 20;
const TARGET = 'https://example.com/';

/**
 * Checks that the hosts of workspaces lead to a gateway, and that it learns at which of them it was asked; and that a gateway has the key that signs here, as it
 * does in senders.
 */
export function trackingHostChecks(examined: ExaminedTrackingHosts): Check[] {
  const { linksUrl: url } = examined;
  const hosts: Check = { name: 'reach tracking hosts', run: () => judgeHosts(examined) };
  // In a container, a URL of this machine would not lead to the gateway.
  if (url === undefined || isLoopback(new URL(url).hostname)) return [hosts];
  return [hosts, { name: 'keys of the gateway', run: () => judgeKeys(url, examined) }];
}

async function judgeKeys(url: string, { signer }: ExaminedTrackingHosts): Promise<Finding> {
  const answer = await askGateway(`${withoutTrailing(url, '/')}/t/c/${signedLink(signer)}`);
  if ('location' in answer && answer.location === TARGET)
    return good('the gateway knows the first key of ENCRYPTION_KEYS');
  if ('status' in answer && answer.isRefusal && answer.status === 404)
    return fault(
      `the gateway at ${url} does not know the first key of ENCRYPTION_KEYS: links that it signs are dead`,
      'give all apps the same ENCRYPTION_KEYS, and restart those that were started before',
    );
  return unknown(
    `whether the gateway at ${url} has the same ENCRYPTION_KEYS is not known`,
    'see reach PUBLIC_URL, reach TRACKING_URL',
  );
}

/** Of no workspace's email, so it works at the host of none. */
function signedLink(signer: LinkSigner): string {
  return signer.signTarget({ uuid: newUuid(Date.now()), url: TARGET })!;
}

async function judgeHosts({ database, signer }: ExaminedTrackingHosts): Promise<Finding> {
  const urls = await database.readTrackingUrls(MAX_URLS).catch(throwRefusedConnection);
  if (urls.length === 0) return good('no workspace has a host of its own for links');
  const token = signedLink(signer);
  const faults = (await Promise.all(urls.map((url) => faultOf(url, token)))).filter((text) => text !== '');
  if (faults.length > 0)
    return fault(
      enumerated(faults, NAMED, '; '),
      'route /t/ of these hosts to the gateway, and have the proxy pass on `Host` as it was requested',
    );
  return good(`a gateway answers at the hosts of workspaces (${urls.length} were asked)`);
}

/** What is wrong at the URL of a workspace, empty if nothing is. */
async function faultOf(url: string, token: string): Promise<string> {
  const answer = await askGateway(`${url}/t/c/${token}`);
  if ('failure' in answer) return `${url} does not answer: ${answer.failure}`;
  if (answer.location === TARGET)
    return `links of all workspaces work at ${url}: the gateway sees another host`;
  return answer.isRefusal && answer.status === 404
    ? ''
    : `${url} answers ${answer.status}, but not as a gateway`;
}
