import type { RequestListener } from 'node:http';

/** What stands before the path of a target in absolute form; of `http://[::1/v1` too, which is no URL. */
const SCHEME_AND_HOST = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*/i;

/**
 * Takes targets in absolute form (`GET http://host/v1/emails`) for their path, as a server must (RFC 9112, section 3.2.2). Of one without a path, or
 * with a host that is none, Express would find no path, and answer with a page of its own before anything of ours has seen the request.
 */
export function takeOriginForm(listener: RequestListener): RequestListener {
  return (request, response) => {
    request.url = originForm(request.url!);
    listener(request, response);
  };
}

function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(SCHEME_AND_HOST, '');
  return rest === target || rest.startsWith('/') ? rest : `/${rest}`;
}
