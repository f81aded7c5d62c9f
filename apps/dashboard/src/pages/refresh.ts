import type { IncomingMessage, ServerResponse } from 'node:http';

/** In the address of a page that has reloaded itself: nobody need be there. */
const BY_ITSELF = 'by-itself';

/** Makes a page reload itself after this many seconds. */
export function refreshAfter(seconds: number, response: ServerResponse): void {
  const fields = fieldsIn(response.req.url);
  fields.set(BY_ITSELF, '1');
  response.setHeader('Refresh', `${seconds}; url=?${fields.toString()}`);
}

/** The address of a page that has reloaded itself, as a person would request it. */
export function withoutRefresh(path: string): string {
  const fields = fieldsIn(path);
  if (!fields.has(BY_ITSELF)) return path;
  fields.delete(BY_ITSELF);
  const before = path.slice(0, path.indexOf('?'));
  return fields.size === 0 ? before : `${before}?${fields.toString()}`;
}

/** Whether it was a page that asked for itself, and not somebody. */
export function isRefresh(request: IncomingMessage): boolean {
  return fieldsIn(request.url).has(BY_ITSELF);
}

function fieldsIn(path = ''): URLSearchParams {
  const start = path.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : path.slice(start));
}
