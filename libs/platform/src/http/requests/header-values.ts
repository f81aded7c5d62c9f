import type { IncomingMessage } from 'node:http';

/**
 * All values of a header of a request: Node would silently keep only the first of several, or join them.
 *
 * @param name in lower case
 */
export function headerValues({ rawHeaders }: Pick<IncomingMessage, 'rawHeaders'>, name: string): string[] {
  return rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name);
}
