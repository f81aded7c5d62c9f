import type { IncomingMessage } from 'node:http';

/**
 * Each value that a request has for a header: of several Node would keep the first in silence, or join them into one that nobody sent.
 *
 * @param name in lower case
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);
}
