import type { NextFunction, Request, Response } from 'express';

/**
 * Takes each `%` of a path for itself where they encode no text (`/v1/emails/%zz`), so that such a path leads to what any id that is not
 * there leads to, after the credential was judged; Express would refuse it before, in words of its own.
 */
export function takeStrayPercents(request: Request, _response: Response, next: NextFunction): void {
  if (request.url.includes('%')) request.url = decodable(request.url);
  next();
}

/** The same URL, its path with `%25` for each `%` if it could not be decoded. */
function decodable(url: string): string {
  const [path = ''] = url.split('?', 1);
  try {
    decodeURIComponent(path);
    return url;
  } catch {
    return path.replaceAll('%', '%25') + url.slice(path.length);
  }
}
