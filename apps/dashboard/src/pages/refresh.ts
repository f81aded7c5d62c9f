import type { IncomingMessage, ServerResponse } from 'node:http';

/** In the address of a page that has reloaded itself: nobody need be there. */
const BY_ITSELF = 'by-itself';

/** Makes a page reload itself after this many seconds. */
export function refreshAfter(seconds: number, response: ServerResponse): void {
  const fields = fieldsOf(response.req);
  fields.set(BY_ITSELF, '1');
  response.setHeader('Refresh', `${seconds}; url=?${fields.toString()}`);
}

/** The address of a page that has reloaded itself, as a person would request it. */
export function withoutRefresh(path: string): string {
  const [before, query] = path.split('?', 2) as [string, string?];
  const fields = new URLSearchParams(query);
  if (!fields.has(BY_ITSELF)) return path;
  fields.delete(BY_ITSELF);
  return fields.size === 0 ? before : `${before}?${fields.toString()}`;
}

/** Whether it was a page that asked for itself, and not somebody. */
export function isRefresh(request: IncomingMessage): boolean {
  return fieldsOf(request).has(BY_ITSELF);
}

function fieldsOf({ url = '' }: IncomingMessage): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start));
}
