import { escapeHtml } from '@posthorn/kernel';
import type { ServerResponse } from 'node:http';
import type { DescribedPathPart } from '../openapi/describes.ts';

const STYLE =
  'body{font:16px/1.6 system-ui,sans-serif;max-width:36rem;margin:15vh auto;padding:0 1rem;color-scheme:light dark}' +
  'button{font:inherit;padding:.5rem 1.25rem;cursor:pointer}';

/** Nothing is loaded, run or embedded, and the button leads nowhere but here. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** How the document describes the part of the path that is in a mail and nowhere else, a secret with this prefix. */
export function linkToken(prefix: string): DescribedPathPart {
  return {
    sentence: 'The secret from the mail.',
    schema: { type: 'string' },
    example: `${prefix}3VbTq8Zk1mNwY7rLcX5dHsJ2fGpA9eUoKx9QaB`,
  };
}

/** A page for somebody who came by a link in a mail; all of it plain text, which is escaped. */
export interface PersonPage {
  readonly title: string;
  readonly paragraphs: readonly string[];
  /** What the button says; without it there is none. */
  readonly button?: string;
  /** Where the button posts to, as seen from this page. Default: its own address. */
  readonly postsTo?: string;
}

/** Renders a page without scripts that nobody is to keep, find or embed. */
export function personPage(
  response: Pick<ServerResponse, 'setHeader'>,
  { title, paragraphs, button, postsTo }: PersonPage,
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
  return `<!doctype html><html lang="en">${head}<style>${STYLE}</style><h1>${escapeHtml(title)}</h1>${texts}${form}</html>`;
}
