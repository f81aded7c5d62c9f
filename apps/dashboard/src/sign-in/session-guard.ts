import type { IncomingMessage } from 'node:http';
import { Refusal } from '@posthorn/kernel';
import { type Actor, operator } from '@posthorn/domain';
import type { OperatorAccount } from '@posthorn/database';
import type { OperatorSessions } from '@posthorn/use-cases';
import type { Request, RequestHandler, Response } from 'express';
import { isRefresh, withoutRefresh } from '../pages/refresh.ts';
import type { SessionCookie } from './session-cookie.ts';
import { signInUrl, redirectTarget } from './redirect-target.ts';

/** In any letter case, as the router matches them. */
const PUBLIC_PATHS = /^\/((sign-in(\/provider(\/callback)?)?|sign-out)\/?$|health\/)/i;
/** The page of the queues polls these every few seconds. */
const BOARD_POLLING = /^\/queues\/api\//i;
const SAFE_METHODS = new Set(['GET', 'HEAD']);
const SESSION_OVER =
  'Your session has ended, and nothing was changed. Sign in in another tab, then load this page again: your browser sends what you filled in once more';

const accounts = new WeakMap<IncomingMessage, OperatorAccount>();

/** The signed-in account; only behind {@link sessionGuard}. */
export function accountOf(request: IncomingMessage): OperatorAccount {
  const account = accounts.get(request);
  if (account === undefined) throw new Error('the request has not passed the session guard');
  return account;
}

interface SessionGuardOptions {
  readonly sessions: Pick<OperatorSessions, 'find'>;
  readonly cookie: SessionCookie;
  /** The origin of the dashboard, as browsers see it. */
  readonly origin: string;
}

/** Requires a session; and for requests that change something, the role of an operator and a page of the dashboard as their origin. */
export function sessionGuard({ sessions, cookie, origin }: SessionGuardOptions): RequestHandler {
  const elsewhere = new Refusal(
    403,
    `This request did not come from a page of the dashboard at ${origin}; open it there and try again. If you reach it at another address, set DASHBOARD_URL to that`,
  );
  return async (request, response, next) => {
    // With `no-referrer`, browsers send forms with `Origin: null`, which is all that we know of their origin where there is no TLS.
    response.setHeader('Referrer-Policy', 'same-origin');
    const isSafe = SAFE_METHODS.has(request.method);
    if (!isSafe && isCrossSite(request, origin)) throw elsewhere;
    if (PUBLIC_PATHS.test(request.path)) return next();
    const token = cookie.read(request);
    const isUse = !(isSafe && isAutomatic(request));
    const account = token === undefined ? undefined : await sessions.find(token, { isUse });
    if (account === undefined) return requestSignIn(request, response, cookie);
    if (!isSafe && account.role !== 'operator')
      throw new Refusal(403, 'You are signed in as a viewer, who may not change anything; ask an operator');
    accounts.set(request, account);
    next();
  };
}

/** Whether an open page has sent this by itself; such requests do not extend the session. */
function isAutomatic(request: Request): boolean {
  return isRefresh(request) || BOARD_POLLING.test(request.path);
}

/** The actor that the audit log records. */
export function operatorOf(request: Request): Actor {
  return operator(accountOf(request).name);
}

/**
 * Whether a request does not come from a page of the dashboard, by `Sec-Fetch-Site` (Fetch Metadata), or by `Origin` in older browsers.
 * Requests with neither header come from no browser, and are refused.
 */
function isCrossSite({ headers }: Request, origin: string): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site !== 'same-origin';
  return headers.origin !== origin;
}

/**
 * Redirects to the sign-in page, which leads back afterwards. Answers 401 instead to programs, which accept anything
 * (`application/json, *\/*`) and expect no page; and to forms, whose content the redirect would lose.
 */
function requestSignIn(request: Request, response: Response, { challenge }: SessionCookie): void {
  if (request.accepts(['html', 'json']) !== 'html') throw new Refusal(401, 'Sign in first', { challenge });
  if (!SAFE_METHODS.has(request.method)) throw new Refusal(401, SESSION_OVER, { challenge });
  response.redirect(303, signInUrl('/sign-in', redirectTarget(withoutRefresh(request.originalUrl))));
}
