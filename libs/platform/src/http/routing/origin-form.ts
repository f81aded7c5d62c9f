import type { RequestListener } from 'node:http';

/** What precedes the path of a target in absolute form; also in `http://[::1/v1`, which is not a URL. */
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Reduces targets in absolute form (`GET http://host/v1/emails`) to their path, as a server must accept them (RFC 9112, section 3.2.2). If one has no
 * path or an invalid host, Express would find no path, and answer with a page of its own before any code of ours has seen the request.
 */
export function withOriginForm(listener: RequestListener): RequestListener {
  return (request, response) => {
    request.url = originForm(request.url!);
    listener(request, response);
  };
}

/** The path and query of a target. */
export function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(SCHEME_AND_HOST, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}
