import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { IsMailLink, RateLimits } from '@posthorn/auth';
import type { Subscription } from '@posthorn/database';
import { ChangeSubscription, tooManyResubscriptions } from '@posthorn/use-cases';
import type { Response } from 'express';
import { Describes, HTML_PAGE, linkToken } from '../openapi/describes.ts';
import { LINK_REFUSALS } from '../openapi/refusals.ts';
import { refuseUnknownLink } from '../pages/refuse-unknown-link.ts';
import { type LandingPage, landingPage } from '../pages/landing-page.ts';
import { type Buttons, resubscribedPage, subscriptionPage } from './unsubscribe-pages.ts';

const NO_SUCH_LINK = new Refusal(
  404,
  'The link was never made, or what it was about is gone; take the one in a newer email',
);

/** Common to the descriptions of all routes. */
const LINK = {
  tag: 'Contacts',
  path: { token: linkToken('unsubscribe') },
  answer: HTML_PAGE,
  refuses: { 'No such link': NO_SUCH_LINK, ...LINK_REFUSALS },
} as const;

/** The unsubscribe links of emails: pages for their readers, and one-click unsubscription for mail clients. */
@Controller('unsubscribe/:token')
@IsMailLink()
export class UnsubscribeController {
  constructor(
    private readonly subscription: ChangeSubscription,
    private readonly limits: RateLimits,
  ) {}

  @Get()
  @Describes({
    ...LINK,
    name: 'openUnsubscribeLink',
    summary: 'Open the unsubscribe link of an email',
    description: 'Shows a page with a button. Opening it changes nothing, because programs open links too.',
  })
  async show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return this.answer(response, await this.subscription.find(token), subscriptionPage);
  }

  @Post()
  @Describes({
    ...LINK,
    name: 'unsubscribeByLink',
    summary: 'Unsubscribe by the link of an email',
    description:
      'Called by the button on the page, and by the one-click unsubscribe of mail clients (RFC 8058) with the body `List-Unsubscribe=One-Click`; the body is ignored. A second call changes nothing more.',
  })
  async unsubscribe(
    @Param('token') token: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.answer(response, await this.subscription.unsubscribe(token), subscriptionPage);
  }

  @Post('resubscribe')
  @Describes({
    ...LINK,
    name: 'resubscribeByLink',
    summary: 'Subscribe again on the page of an unsubscribe link',
    description: 'With one link, this is possible ten times an hour, in bursts of up to ten.',
    refuses: { ...LINK.refuses, 'Too many times': tooManyResubscriptions(360) },
  })
  async resubscribe(
    @Param('token') token: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.answer(response, await this.subscription.resubscribe(token), resubscribedPage);
  }

  private async answer(
    response: Response,
    subscription: Subscription | undefined,
    pageOf: (known: Subscription, buttons: Buttons) => LandingPage,
  ): Promise<string> {
    if (subscription === undefined) return refuseUnknownLink(this.limits, response, NO_SUCH_LINK);
    return landingPage(response, pageOf(subscription, buttonsFrom(response.req.path)));
  }
}

/** The targets of the buttons on `/unsubscribe/:token`, relative, so that they work below any path prefix and with or without a trailing slash. */
function buttonsFrom(path: string): Buttons {
  const [, , token, ...below] = path.split('/');
  const unsubscribe = `${'../'.repeat(below.length)}${token}`;
  return { unsubscribe, resubscribe: `${unsubscribe}/resubscribe` };
}
