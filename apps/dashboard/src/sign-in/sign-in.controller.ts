import { Controller, Get, Post, Query, Req, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { OperatorSessions, SESSION_MS } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { hiddenFields } from '../pages/fields.ts';
import { html, type Html } from '../pages/html.ts';
import { renderPage } from '../pages/page.ts';
import { faultAlert } from '../pages/components.ts';
import { forwardingPage } from './forwarding-page.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { SessionCookie } from './session-cookie.ts';
import { SignInMethods, TrustedProxies } from './sign-in-methods.ts';
import { HOME, signInUrl, redirectTarget } from './redirect-target.ts';

/** The values of the sign-in form, and what was wrong with them. */
interface FilledForm {
  readonly name?: string;
  /** The page to go to after the sign-in. */
  readonly to?: string;
  readonly fault?: string;
}

/** Signs operators in by password, and out. */
@Controller()
export class SignInController {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly cookie: SessionCookie,
    private readonly proxies: TrustedProxies,
    private readonly methods: SignInMethods,
  ) {}

  @Get('sign-in')
  async show(
    @Query() query: unknown,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    const { to: wanted } = query as Record<string, unknown>;
    const to = redirectTarget(wanted);
    if (await this.sessions.isClosed()) return renderPage(response, { title: 'Sign in', content: CLOSED });
    if (isFromAnotherSite(request))
      return forwardingPage(response, { title: 'Posthorn', heading: 'One moment', to });
    return renderPage(response, { title: 'Sign in', content: this.page({ to }) });
  }

  @Post('sign-in')
  async signIn(
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string | undefined> {
    const { name, password, to: wanted } = (request.body ?? {}) as Record<string, unknown>;
    const to = redirectTarget(wanted);
    if (typeof name !== 'string' || typeof password !== 'string')
      return this.renderFault(response, { to }, CREDENTIALS_MISSING);
    try {
      const token = await this.sessions.signIn({
        name: name.trim().toLowerCase(),
        // Passwords are generated, so people copy them, sometimes with a space beside them; none has one of its own.
        password: password.trim(),
        network: this.proxies.networkOf(request),
      });
      this.cookie.set(response, token, SESSION_MS);
      response.redirect(303, to);
      return undefined;
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      return this.renderFault(response, { name, to }, error);
    }
  }

  @Post('sign-out')
  async signOut(@Req() request: Request, @Res({ passthrough: true }) response: Response): Promise<undefined> {
    const token = this.cookie.read(request);
    if (token !== undefined) await this.sessions.signOut(token, this.proxies.networkOf(request));
    this.cookie.clear(response);
    response.redirect(303, '/sign-in');
  }

  private renderFault(
    response: Response,
    filled: FilledForm,
    { statusCode, message, details }: Refusal,
  ): string {
    response.status(statusCode);
    if (statusCode === 401) response.setHeader('WWW-Authenticate', this.cookie.challenge);
    if (details.retryAfterSeconds !== undefined)
      response.setHeader('Retry-After', String(details.retryAfterSeconds));
    return renderPage(response, { title: 'Sign in', content: this.page({ ...filled, fault: message }) });
  }

  private page({ name = '', to = HOME, fault }: FilledForm): Html {
    const { byPassword, provider } = this.methods;
    return html`<div class="narrow">
      <h1>Posthorn</h1>
      ${faultAlert(fault)} ${provider === undefined ? '' : providerLinks(provider, to)}
      ${byPassword ? form(name, to) : ''}
    </div>`;
  }
}

/**
 * Whether a link on another site led here. Whoever followed it may be signed in all the same, since browsers do not add our strict cookie to such
 * a request; they say where it came from over TLS, and on the local machine.
 */
function isFromAnotherSite({ headers }: Request): boolean {
  return headers['sec-fetch-site'] === 'cross-site';
}

const CREDENTIALS_MISSING = new Refusal(400, 'Enter a name and a password');

const CLOSED = html`<div class="narrow">
  <h1>The dashboard is closed</h1>
  <p>Nobody has an account yet. Whoever runs Posthorn creates one on the command line:</p>
  <p><code>npm run posthorn -- operator create --name ada --role operator</code></p>
</div>`;

function providerLinks({ name, signOutUrl }: IdentityProvider, to: string): Html {
  return html`<p><a href="${signInUrl('/sign-in/provider', to)}">Sign in with ${name}</a></p>
    ${signOutUrl === undefined ? '' : html`<p class="quiet"><a href="${signOutUrl.href}">Sign out there</a></p>`}`;
}

function form(name: string, to: string): Html {
  return html`<form method="post" action="/sign-in">
    ${hiddenFields({ to: to === HOME ? undefined : to })}
    <label for="name">Name</label>
    <input
      id="name"
      name="name"
      value="${name}"
      autocomplete="username"
      autocapitalize="none"
      maxlength="63"
      required
      autofocus
    />
    <label for="password">Password</label>
    <input
      id="password"
      name="password"
      type="password"
      autocomplete="current-password"
      maxlength="256"
      required
    />
    <button>Sign in</button>
  </form>`;
}
