import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { IsMailLink, RateLimits } from '@posthorn/auth';
import type { LinkedAddress } from '@posthorn/database';
import { ConfirmAddress } from '@posthorn/use-cases';
import type { Response } from 'express';
import { Describes, HTML_PAGE, linkToken } from '../openapi/describes.ts';
import { LINK_REFUSALS } from '../openapi/refusals.ts';
import { refuseUnknownLink } from '../pages/refuse-unknown-link.ts';
import { type LandingPage, landingPage } from '../pages/landing-page.ts';

const UNKNOWN = new Refusal(
  404,
  'The link was never made, or what it was about is gone; check that all of it was copied',
);
const TOO_OLD = new Refusal(
  410,
  'The link is older than 24 hours; whoever asked you can have another one sent to you',
);

/** Common to the descriptions of all routes. */
const LINK = {
  tag: 'Identities',
  path: { token: linkToken('verification') },
  answer: HTML_PAGE,
  refuses: { 'No such link': UNKNOWN, 'Too old': TOO_OLD, ...LINK_REFUSALS },
} as const;

/** The pages behind the links in verification mails; public, since the reader has no key. */
@Controller('verify/identity/:token')
@IsMailLink()
export class ConfirmAddressController {
  constructor(
    private readonly confirmAddress: ConfirmAddress,
    private readonly limits: RateLimits,
  ) {}

  @Get()
  @Describes({
    ...LINK,
    name: 'readVerification',
    summary: 'Open the link of a verification mail',
    description:
      'Shows a page that asks for consent. Opening it changes nothing, because programs open links too.',
  })
  async show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return this.page(response, await this.confirmAddress.find(token), question);
  }

  @Post()
  @Describes({
    ...LINK,
    name: 'confirmVerification',
    summary: 'Press the button of a verification page',
    description: 'Verifies the address. A link works once.',
  })
  async confirm(
    @Param('token') token: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.page(response, await this.confirmAddress.confirm(token), consented);
  }

  private async page(
    response: Response,
    linked: LinkedAddress,
    open: (known: KnownAddress) => LandingPage,
  ): Promise<string> {
    if (linked.state === 'expired') throw TOO_OLD;
    if (linked.state === 'unknown') return refuseUnknownLink(this.limits, response, UNKNOWN);
    return landingPage(response, linked.state === 'open' ? open(linked) : consented(linked));
  }
}

type KnownAddress = Extract<LinkedAddress, { readonly address: string }>;

function question({ address, workspaceName }: KnownAddress): LandingPage {
  return {
    title: `May emails be sent as ${address}?`,
    paragraphs: [
      `The workspace “${workspaceName}” asks to send emails in the name of ${address}.`,
      'If you do not expect this, close this page: nothing is sent without your consent.',
    ],
    button: `Yes, ${workspaceName} may send as ${address}`,
  };
}

function consented({ address, workspaceName }: KnownAddress): LandingPage {
  return {
    title: 'Thank you',
    paragraphs: [`“${workspaceName}” may now send emails as ${address}. You can close this page.`],
  };
}
