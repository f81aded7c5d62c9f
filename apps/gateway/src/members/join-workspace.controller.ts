import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { IsMailLink, RateLimits } from '@posthorn/auth';
import { INVITATION_DAYS } from '@posthorn/domain';
import { JoinWorkspace, type ShownInvitation } from '@posthorn/use-cases';
import type { Response } from 'express';
import { Describes, HTML_PAGE, linkToken } from '../openapi/describes.ts';
import { LINK_REFUSALS } from '../openapi/refusals.ts';
import { refuseUnknownLink } from '../pages/refuse-unknown-link.ts';
import { type LandingPage, landingPage } from '../pages/landing-page.ts';

const UNKNOWN = new Refusal(
  404,
  'The link was never made, or a newer mail has another one; check that all of it was copied from the newest mail',
);
const TOO_OLD = new Refusal(
  410,
  `The link is older than ${INVITATION_DAYS} days; whoever invited you can have another one sent to you`,
);
const TAKEN_BACK = new Refusal(
  410,
  'The invitation was taken back; if that was a mistake, ask whoever invited you for another one',
);

/** Common to the descriptions of all routes. */
const LINK = {
  tag: 'Members',
  path: { token: linkToken('invitation') },
  answer: HTML_PAGE,
  refuses: { 'No such link': UNKNOWN, 'Too old': TOO_OLD, 'Taken back': TAKEN_BACK, ...LINK_REFUSALS },
} as const;

/** The pages behind the links in invitations; public, since the reader has no key. */
@Controller('invitations/:token')
@IsMailLink()
export class JoinWorkspaceController {
  constructor(
    private readonly joinWorkspace: JoinWorkspace,
    private readonly limits: RateLimits,
  ) {}

  @Get()
  @Describes({
    ...LINK,
    name: 'openInvitation',
    summary: 'Open the link of an invitation',
    description:
      'Shows a page that asks for consent. Opening it changes nothing, because programs open links too.',
  })
  async show(@Param('token') token: string, @Res({ passthrough: true }) response: Response): Promise<string> {
    return this.page(response, await this.joinWorkspace.find(token));
  }

  @Post()
  @Describes({
    ...LINK,
    name: 'acceptInvitation',
    summary: 'Press the button of an invitation',
    description: 'Makes the person a member. A link works once.',
  })
  async accept(
    @Param('token') token: string,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.page(response, await this.joinWorkspace.accept(token));
  }

  private async page(response: Response, invitation: ShownInvitation | undefined): Promise<string> {
    if (invitation === undefined) return refuseUnknownLink(this.limits, response, UNKNOWN);
    const page = PAGES[invitation.status];
    if (page instanceof Refusal) throw page;
    return landingPage(response, page(invitation));
  }
}

type PageText = (invitation: ShownInvitation) => LandingPage;

/** The page or refusal for each status of an invitation. */
const PAGES: Readonly<Record<ShownInvitation['status'], PageText | Refusal>> = {
  OPEN: ({ workspaceName, email }) => ({
    title: `Become a member of “${workspaceName}”?`,
    paragraphs: [
      `The workspace “${workspaceName}” invites ${email}.`,
      'If you do not expect this, close this page: nothing happens without your consent.',
    ],
    button: `Yes, join ${workspaceName}`,
  }),
  ACCEPTED: ({ workspaceName, email }) => ({
    title: 'Welcome',
    // Does not say that the reader is a member: they may have been removed since.
    paragraphs: [
      `${email} has accepted the invitation to the workspace “${workspaceName}”. You can close this page.`,
    ],
  }),
  EXPIRED: TOO_OLD,
  REVOKED: TAKEN_BACK,
};
