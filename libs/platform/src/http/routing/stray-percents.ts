import type { NextFunction, Request, Response } from 'express';

/**
 * Escapes each `%` of a path that cannot be decoded (`/v1/emails/%zz`), so that it is answered like any unknown id, after authentication;
 * Express would refuse it earlier, with a message of its own.
 */
export function escapeStrayPercents(request: Request, _response: Response, next: NextFunction): void {
  if (request.url.includes('%')) request.url = decodable(request.url);
  next();
}

/** The URL with each `%` of its path escaped if the path cannot be decoded. */
export function decodable(url: string): string {
  const [path = ''] = url.split('?', 1);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
