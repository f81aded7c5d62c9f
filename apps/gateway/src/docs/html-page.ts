import type { Request, Response } from 'express';

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}' +
  'pre{overflow-x:auto;padding:.75rem 1rem;border:1px solid #8888}';

/** What `default-src` does not stand for is said by itself. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * A page of text for people.
 *
 * @param title as it is to be read; neither it nor `content` is escaped, so nothing of a caller's may be in them
 */
export function textPage(response: Response, title: string, content: string): string {
  response.setHeader('Content-Security-Policy', POLICY);
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;
  return `<!doctype html><html lang="en">${head}<style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`;
}

/**
 * Whoever asks for a page with a slash at its end is led to the one without: its links are relative, and would lead elsewhere.
 *
 * @returns the page, or nothing where it is asked for so
 */
export function withoutSlash(request: Request, response: Response, page: string): string {
  if (!request.path.endsWith('/')) return page;
  response.status(301).setHeader('Location', `../${request.path.split('/').at(-2)}`);
  return '';
}
