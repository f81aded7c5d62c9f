import { escapeHtml } from '@posthorn/kernel';
import type { ServerResponse } from 'node:http';

const STYLE =
  ':root{color-scheme:light dark;background:Canvas}' +
  'body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;overflow-wrap:anywhere}' +
  'button{font:inherit;padding:.5rem 1.25rem;cursor:pointer}';

/** No scripts, nothing loaded or embedded; forms post only to this origin. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** A page behind a link in a mail; all texts are plain and get escaped. */
export interface LandingPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** The label of the button; absent: no button. */
  readonly button?: string;
  /** Where the button posts to, relative to this page. Default: the page's URL. */
  readonly postsTo?: string;
}

/** Renders a page that must not be cached, indexed or embedded. */
export function landingPage(
  response: Pick<ServerResponse, 'setHeader'>,
  { title, paragraphs, button, postsTo }: LandingPage,
): string {
  response.setHeader('Content-Type', 'text/html; charset=utf-8');
  response.setHeader('Content-Security-Policy', POLICY);
  response.setHeader('X-Robots-Tag', 'noindex, nofollow');
  const meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">';
  const head = `${meta}<meta name="robots" content="noindex,nofollow"><title>${escapeHtml(title)}</title>`;
  const texts = paragraphs.map((paragraph) => `<p>${escapeHtml(paragraph)}</p>`).join('');
  const action = postsTo === undefined ? '' : ` action="${escapeHtml(postsTo)}"`;
  const form =
    button === undefined ? '' : `<form method="post"${action}><button>${escapeHtml(button)}</button></form>`;
  return `<!doctype html><html lang="en">${head}<style>${STYLE}</style><main><h1>${escapeHtml(title)}</h1>${texts}${form}</main></html>`;
}
