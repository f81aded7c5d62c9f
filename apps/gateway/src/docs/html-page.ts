import type { Response } from 'express';

const STYLE =
  ':root{color-scheme:light dark;background:Canvas}body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem}' +
  'pre{overflow-x:auto;padding:.75rem 1rem;border:1px solid #8888}';

/** Names the directives for which `default-src` is no fallback. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/**
 * A page of text for people.
 *
 * @param title not escaped, and neither is `content`, so they must contain nothing from callers
 */
export function textPage(response: Response, title: string, content: string): string {
  response.setHeader('Content-Security-Policy', POLICY);
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;
  return `<!doctype html><html lang="en">${head}<style>${STYLE}</style><main><h1>${title}</h1>${content}</main></html>`;
}

/**
 * Redirects a path with a trailing slash to the one without, since the page's relative links would resolve wrongly.
 *
 * @returns the page; after a redirect, an empty body
 */
export function withoutSlash(response: Response, page: string): string {
  const { path } = response.req;
  if (!path.endsWith('/')) return page;
  response.status(301).setHeader('Location', `../${path.split('/').at(-2)}`);
  return '';
}
