import { newUuid } from '@posthorn/kernel';
import { enumerated, fault, type Finding, good, NAMED } from '@posthorn/domain';
import type { ExaminedDatabase } from '@posthorn/database';
import type { LinkSigner } from '@posthorn/signing';
import { askGateway } from './ask-gateway.ts';
import type { Check } from './examine.ts';

/** What is needed to examine the hosts that workspaces have of their own for tracked links. */
interface ExaminedTrackingHosts {
  readonly database: Pick<ExaminedDatabase, 'readTrackingUrls'>;
  readonly signer: LinkSigner;
}

const MAX_URLS = 20;
const TARGET = 'https://example.com/';

/** Checks that the hosts of workspaces lead to a gateway, and that it learns at which of them it was asked. */
export function trackingHostChecks(examined: ExaminedTrackingHosts): Check[] {
  return [{ name: 'reach tracking hosts', run: () => judgeHosts(examined) }];
}

async function judgeHosts({ database, signer }: ExaminedTrackingHosts): Promise<Finding> {
  const urls = await database.readTrackingUrls(MAX_URLS);
  if (urls.length === 0) return good('no workspace has a host of its own for links');
  // Of no workspace's email, so it works only where the gateway sees another host.
  const token = signer.signTarget({ uuid: newUuid(Date.now()), url: TARGET })!;
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
