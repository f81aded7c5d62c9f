import type { ErrorBody } from '@posthorn/kernel';
import { type ErrorRenderer, renderJson } from '@posthorn/platform';
import type { Request } from 'express';
import { type LandingPage, landingPage } from './landing-page.ts';

/** The paths of links in mails, in any letter case, as the router matches them. */
export const MAIL_LINK_PATHS = /^\/(invitations|verify|unsubscribe|t)\//i;

const LATER: LandingPage = {
  title: 'Try again in a moment',
  paragraphs: ['This page cannot be shown right now. The link remains valid.'],
};
const TOO_MANY: LandingPage = {
  title: 'Try again in a few minutes',
  paragraphs: [
    'Too many links that do not work were opened from the network that you are in, or this one was used too often.',
  ],
};

const ONLY_A_BUTTON: LandingPage = {
  title: 'Open the link in the mail again',
  paragraphs: ['This address belongs to a button and cannot be opened by itself. Nothing was changed.'],
};

/** Renders errors as a page for people who open a link of a mail in a browser; all others get the JSON error body. */
export const renderError: ErrorRenderer = (response, body) => {
  const request = response.req as Request;
  const isPerson = MAIL_LINK_PATHS.test(request.path) && request.accepts(['json', 'html']) === 'html';
  return isPerson ? landingPage(response, pageOf(body)) : renderJson(response, body);
};

function pageOf({ statusCode, message }: ErrorBody): LandingPage {
  if (statusCode >= 500) return LATER;
  if (statusCode === 429) return TOO_MANY;
  if (statusCode === 405) return ONLY_A_BUTTON;
  return { title: 'This link does not work', paragraphs: [`${message}.`] };
}
