import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { OperatorSessions, SESSION_MS } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { forwardingPage } from './forwarding-page.ts';
import type { IdentityProvider } from './identity-provider.ts';
import { SessionCookie } from './session-cookie.ts';
import { SignInCookie } from './sign-in-cookie.ts';
import { SignInMethods, TrustedProxies } from './sign-in-methods.ts';
import { redirectTarget } from './redirect-target.ts';

/** Signs operators in by an identity provider. */
@Controller('sign-in/provider')
export class ProviderController {
  constructor(
    private readonly sessions: OperatorSessions,
    private readonly cookie: SessionCookie,
    private readonly secrets: SignInCookie,
    private readonly methods: SignInMethods,
    private readonly proxies: TrustedProxies,
  ) {}

  @Get()
  async begin(@Query() query: unknown, @Res() response: Response): Promise<void> {
    const { url, secrets } = await this.provider.begin();
    const { to } = query as Record<string, unknown>;
    this.secrets.set(response, { ...secrets, to: redirectTarget(to) });
    response.redirect(303, url.href);
  }

  @Get('callback')
  async finish(@Req() request: Request, @Res() response: Response): Promise<void> {
    const { provider } = this;
    // Each callback causes requests to the provider.
    const network = this.proxies.networkOf(request);
    await this.sessions.countTryFrom(network);
    const secrets = this.secrets.read(request);
    this.secrets.clear(response);
    const operator = await provider.finish(new URL(request.originalUrl, 'http://any').search, secrets);
    this.cookie.set(response, await this.sessions.signInVouched(operator, network), SESSION_MS);
    const to = redirectTarget(secrets?.to);
    response.end(forwardingPage(response, { title: 'Signed in', heading: 'You are signed in', to }));
  }

  private get provider(): IdentityProvider {
    const { provider } = this.methods;
    if (provider === undefined)
      throw new Refusal(404, 'No identity provider is configured here; sign in by password');
    return provider;
  }
}
