import type { NextFunction, Request, Response } from 'express';

/**
 * Escapes each `%` of a path that cannot be decoded (`/v1/emails/%zz`), so that it is answered like any unknown id, after the credential was
 * checked; Express would refuse it before that, in words of its own.
 */
export function escapeStrayPercents(request: Request, _response: Response, next: NextFunction): void {
  if (request.url.includes('%')) request.url = decodable(request.url);
  next();
}

/** The same URL, its path with `%25` for each `%` if it could not be decoded. */
export function decodable(url: string): string {
  const [path = ''] = url.split('?', 1);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
