import { HttpException } from '@nestjs/common';
import { type ErrorBody, Refusal } from '@posthorn/kernel';
import { isOutage } from '@posthorn/database';
import { type ErrorRenderer, renderJson } from '@posthorn/platform';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { HOME, redirectTarget } from '../sign-in/redirect-target.ts';
import { withoutConfirmation } from './confirmation.ts';
import { html, type Html } from './html.ts';
import { renderPage } from './page.ts';
import { isRefresh, withoutRefresh } from './refresh.ts';

const RELOAD_SECONDS = 5;
const TOO_LARGE = 413;
const OVERVIEW = html`<a href="/">To the overview</a>`;
/** In another tab, since this one holds a filled-in form. */
const SIGN_IN = html`<a href="/sign-in" target="_blank">Sign in in another tab</a>`;

/** The refusal that people are shown for an error; undefined: it is an internal error. */
export function refusalOf(fault: unknown): Refusal | undefined {
  const cause = fault instanceof Refusal ? fault.cause : fault;
  if (isOutage(cause)) return databaseUnavailable(cause);
  if (fault instanceof HttpException && fault.getStatus() === TOO_LARGE)
    return new Refusal(TOO_LARGE, 'The form is too large; shorten what you have filled in');
  return fault instanceof Refusal ? fault : undefined;
}

/** Renders errors as pages, and as JSON for scripts that ask for it: that of the queues shows its `message`. */
export const renderError: ErrorRenderer = (response, body) =>
  response.req.headers.accept?.startsWith('application/json')
    ? renderJson(response, body)
    : errorPage(response, body);

/** The HTML form of an error. In place of a page that reloads itself, it keeps reloading until the database is back. */
function errorPage(response: ServerResponse, { statusCode, message }: ErrorBody): string {
  const content = html`<div class="narrow">
    <h1>${statusCode}</h1>
    <p role="alert">${message}.</p>
    <p>${statusCode === 401 ? SIGN_IN : continueLink(response.req)}</p>
  </div>`;
  const isReloading = statusCode === 503 && isRefresh(response.req);
  const refreshSeconds = isReloading ? RELOAD_SECONDS : undefined;
  return renderPage(response, { title: String(statusCode), content, refreshSeconds });
}

/** Leads back to the page of the form that was sent, which then confirms no earlier action, or to the overview. */
function continueLink({ method, headers: { referer } }: IncomingMessage): Html {
  const page = method === 'POST' ? URL.parse(referer ?? '') : null;
  const from = page === null ? HOME : redirectTarget(withoutRefresh(withoutConfirmation(page)));
  return from === HOME ? OVERVIEW : html`<a href="${from}">Back to where you were</a>`;
}

function databaseUnavailable(cause: unknown): Refusal {
  return new Refusal(503, 'The database cannot be queried right now; try again in a moment', {}, { cause });
}
