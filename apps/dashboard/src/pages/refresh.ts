import type { IncomingMessage, ServerResponse } from 'node:http';

/** Query parameter of a page that has reloaded itself, so that this does not count as activity of its user. */
const AUTO_REFRESH = 'by-itself';

/** Makes a page reload itself after this many seconds. */
export function refreshAfter(seconds: number, response: ServerResponse): void {
  const fields = fieldsIn(response.req.url);
  fields.set(AUTO_REFRESH, '1');
  response.setHeader('Refresh', `${seconds}; url=?${fields.toString()}`);
}

/** Removes the mark of {@link refreshAfter} from a path. */
export function withoutRefresh(path: string): string {
  const fields = fieldsIn(path);
  if (!fields.has(AUTO_REFRESH)) return path;
  fields.delete(AUTO_REFRESH);
  const before = path.slice(0, path.indexOf('?'));
  return fields.size === 0 ? before : `${before}?${fields.toString()}`;
}

/** Whether a page has reloaded itself, rather than a user requested it. */
export function isRefresh(request: IncomingMessage): boolean {
  return fieldsIn(request.url).has(AUTO_REFRESH);
}

function fieldsIn(path = ''): URLSearchParams {
  const start = path.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : path.slice(start));
}
