import { parseMailDomain } from '@posthorn/domain';

/** Whether a text is a full domain name in lower-case ASCII. */
export function isDomainName(text: string): boolean {
  const parsed = parseMailDomain(text);
  return 'domain' in parsed && parsed.domain === text;
}
