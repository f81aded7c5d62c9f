import { type ErrorBody, Refusal } from '@posthorn/kernel';
import { isOutage } from '@posthorn/database';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HOME, wayBack } from '../sign-in/way-back.ts';
import { html, type Html } from './html.ts';
import { renderPage } from './page.ts';
import { isRefresh } from './refresh.ts';

const AGAIN_SECONDS = 5;
const OVERVIEW = html`<a href="/">To the overview</a>`;
/** In another tab, since this one holds what was filled in. */
const SIGN_IN = html`<a href="/sign-in" target="_blank">Sign in in another tab</a>`;

/** What people are told of a fault; undefined: it is one of ours. */
export function refusalOf(fault: unknown): Refusal | undefined {
  const cause = fault instanceof Refusal ? fault.cause : fault;
  if (isOutage(cause)) return databaseAway(cause);
  return fault instanceof Refusal ? fault : undefined;
}

/** The page for what programs get as JSON. A page that reloads itself goes on reloading until the database is back. */
export function errorPage(response: ServerResponse, { statusCode, message }: ErrorBody): string {
  const content = html`<div class="narrow">
    <h1>${statusCode}</h1>
    <p role="alert">${message}.</p>
    <p>${statusCode === 401 ? SIGN_IN : wayOn(response.req)}</p>
  </div>`;
  const goesOn = statusCode === 503 && isRefresh(response.req);
  const refreshSeconds = goesOn ? AGAIN_SECONDS : undefined;
  return renderPage(response, { title: String(statusCode), content, refreshSeconds });
}

/** Whoever has sent a form goes on where it stands. */
function wayOn({ method, headers: { referer } }: IncomingMessage): Html {
  const { pathname, search } = (method === 'POST' && URL.parse(referer ?? '')) || {
    pathname: HOME,
    search: '',
  };
  const from = wayBack(pathname + search);
  return from === HOME ? OVERVIEW : html`<a href="${from}">Back to where you were</a>`;
}

function databaseAway(cause: unknown): Refusal {
  return new Refusal(503, 'The database cannot be asked just now; try again in a moment', {}, { cause });
}
