import type { IncomingMessage } from 'node:http';
import { Refusal } from '@posthorn/kernel';
import { type Actor, operator } from '@posthorn/domain';
import type { OperatorAccount } from '@posthorn/database';
import type { OperatorSessions } from '@posthorn/use-cases';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { isRefresh, withoutRefresh } from '../pages/refresh.ts';
import type { SessionCookie } from './session-cookie.ts';
import { signInAt, wayBack } from './way-back.ts';

const OPEN_TO_ALL = /^\/((sign-in(\/provider(\/callback)?)?|sign-out)$|health\/)/;
/** What the page of the queues asks for every few seconds. */
const ASKED_BY_THE_BOARD = /^\/queues\/api\//;
const READING = new Set(['GET', 'HEAD']);
const SESSION_OVER =
  'Your session has ended, and nothing was changed. Sign in in another tab, then load this page again: your browser sends what you filled in once more';

const accounts = new WeakMap<IncomingMessage, OperatorAccount>();

/** Who is signed in; only behind the entrance. */
export function accountOf(request: IncomingMessage): OperatorAccount {
  const account = accounts.get(request);
  if (account === undefined) throw new Error('a route was reached without passing the entrance');
  return account;
}

export interface EntranceOptions {
  readonly sessions: Pick<OperatorSessions, 'find'>;
  readonly cookie: SessionCookie;
  /** Where the dashboard is, as browsers see it. */
  readonly origin: string;
}

/** Lets nobody past who is not signed in, and nothing be changed but by operators, from the dashboard's own pages. */
export function entrance({ sessions, cookie, origin }: EntranceOptions): RequestHandler {
  const letIn = async (request: Request, response: Response, next: NextFunction): Promise<void> => {
    // With `no-referrer`, browsers send forms with the origin `null`; where there is no TLS they say nothing else of where a form comes from.
    response.setHeader('Referrer-Policy', 'same-origin');
    const isReading = READING.has(request.method);
    if (!isReading && isFromElsewhere(request, origin))
      throw new Refusal(403, 'This was not asked from a page of the dashboard; open it and try again');
    if (OPEN_TO_ALL.test(request.path)) return next();
    const token = cookie.read(request);
    const account =
      token === undefined ? undefined : await sessions.find(token, !(isReading && isAskedByAPage(request)));
    if (account === undefined) return askToSignIn(request, response, cookie);
    if (!isReading && account.role !== 'operator')
      throw new Refusal(403, 'You are signed in as a viewer, who looks and changes nothing; ask an operator');
    accounts.set(request, account);
    next();
  };
  return (request, response, next) => {
    letIn(request, response, next).catch(next);
  };
}

/** Whether a page has asked by itself, as it does for as long as it is open. */
function isAskedByAPage(request: Request): boolean {
  return isRefresh(request) || ASKED_BY_THE_BOARD.test(request.path);
}

/** As whom somebody appears in the audit log who changes something. */
export function operatorOf(request: Request): Actor {
  return operator(accountOf(request).name);
}

/**
 * Browsers say where a request comes from (Fetch Metadata), older ones at least of which origin its page is; a program that says neither is no
 * browser, and has no cookie either unless somebody took it.
 */
function isFromElsewhere({ headers }: Request, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  return headers.origin !== origin;
}

/**
 * Leads to where one signs in, and from there back. A program that takes anything (`application/json, *\/*`) has no use for a page where it
 * wants an answer of its own; and a form would be lost on the way.
 */
function askToSignIn(request: Request, response: Response, { challenge }: SessionCookie): void {
  if (request.accepts(['html', 'json']) !== 'html') throw new Refusal(401, 'Sign in first', { challenge });
  if (!READING.has(request.method)) throw new Refusal(401, SESSION_OVER, { challenge });
  response.redirect(303, signInAt('/sign-in', wayBack(withoutRefresh(request.originalUrl))));
}
