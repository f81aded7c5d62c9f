import { parseMailDomain } from '@posthorn/domain';

/** Whether a text is a full domain name as it stands on the wire. */
export function isDomainName(text: string): boolean {
  const parsed = parseMailDomain(text);
  return 'domain' in parsed && parsed.domain === text;
}
