import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import { RateLimits } from '@posthorn/auth';
import { INVITATION_DAYS } from '@posthorn/domain';
import { JoinWorkspace, orUnavailable, type ShownInvitation } from '@posthorn/use-cases';
import type { Request, Response } from 'express';
import { Describes } from '../openapi/describes.ts';
import { TOO_MANY_GUESSES } from '../pages/guesses.ts';
import { linkToken, type PersonPage, personPage, PERSON_PAGE } from '../pages/person-page.ts';

const TOKEN = linkToken('phi_');

/** Where the links in invitations lead: pages for whoever reads the mail, who needs no key. */
@Controller('invitations/:token')
export class JoinWorkspaceController {
  constructor(
    private readonly joinWorkspace: JoinWorkspace,
    private readonly limits: RateLimits,
  ) {}

  @Get()
  @Describes({
    name: 'openInvitation',
    tag: 'Members',
    summary: 'Open the link of an invitation',
    description: 'A page that asks for consent. Opening it changes nothing: programs open links, too.',
    path: { token: TOKEN },
    answer: PERSON_PAGE,
    refuses: [TOO_MANY_GUESSES],
  })
  async look(
    @Param('token') token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.page(request, response, await orUnavailable(this.joinWorkspace.look(token)));
  }

  @Post()
  @HttpCode(200)
  @Describes({
    name: 'acceptInvitation',
    tag: 'Members',
    summary: 'Press the button of an invitation',
    description: 'Makes the person a member. A link does that once.',
    path: { token: TOKEN },
    answer: PERSON_PAGE,
    refuses: [TOO_MANY_GUESSES],
  })
  async accept(
    @Param('token') token: string,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<string> {
    return this.page(request, response, await orUnavailable(this.joinWorkspace.accept(token)));
  }

  private async page(
    request: Request,
    response: Response,
    invitation: ShownInvitation | undefined,
  ): Promise<string> {
    if (invitation === undefined) await this.limits.countFailure(request, response);
    return personPage(response, pageOf(invitation));
  }
}

type PageText = (invitation: ShownInvitation) => PersonPage;

/** With status 200 whatever the page says: an answer that is none would have the error body of the interface. */
function pageOf(invitation: ShownInvitation | undefined): PersonPage {
  return invitation === undefined ? UNKNOWN : PAGES[invitation.status](invitation);
}

const UNKNOWN: PersonPage = {
  title: 'There is nothing here',
  paragraphs: [
    'This link was never made, or a newer mail has another one. See that all of it was copied from the newest mail.',
  ],
};

const PAGES: Readonly<Record<ShownInvitation['status'], PageText>> = {
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
    paragraphs: [`${email} is a member of “${workspaceName}”. You can close this page.`],
  }),
  EXPIRED: () => ({
    title: 'This link is too old',
    paragraphs: [
      `A link is good for ${INVITATION_DAYS} days. Whoever invited you can have another one sent to you.`,
    ],
  }),
  REVOKED: ({ workspaceName }) => ({
    title: 'This invitation was taken back',
    paragraphs: [`“${workspaceName}” has taken it back. If that was a mistake, ask for another one.`],
  }),
};
