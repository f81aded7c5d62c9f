import type { Response } from 'express';

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:42rem;margin:3rem auto;padding:0 1rem;color-scheme:light dark}';

/**
 * A page of text for people.
 *
 * @param title as it is to be read; neither it nor `content` is escaped, so nothing of a caller's may be in them
 */
export function textPage(response: Response, title: string, content: string): string {
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'");
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`;
  return `<!doctype html><html lang="en">${head}<style>${STYLE}</style><h1>${title}</h1>${content}</html>`;
}
