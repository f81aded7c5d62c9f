import type { ErrorBody } from '@posthorn/kernel';
import { type ErrorRenderer, renderJson } from '@posthorn/platform';
import type { Request } from 'express';
import { type PersonPage, personPage } from './person-page.ts';

/** Where the links in mails lead. */
const FOR_PEOPLE = /^\/(invitations|verify|unsubscribe|t)\//;

const LATER: PersonPage = {
  title: 'Try again in a moment',
  paragraphs: ['This page cannot be shown just now. The link stays as good as it was.'],
};
const TOO_MANY: PersonPage = {
  title: 'Try again in a few minutes',
  paragraphs: [
    'Too many links that do not work were opened from the network that you are in, or this one was used too often.',
  ],
};

/** What is no success has the error body of the interface; but who opens a link of a mail in a browser would make nothing of that, and gets a page. */
export const renderError: ErrorRenderer = (response, body) => {
  const request = response.req as Request;
  const isPerson = FOR_PEOPLE.test(request.path) && request.accepts(['json', 'html']) === 'html';
  return isPerson ? personPage(response, pageOf(body)) : renderJson(response, body);
};

function pageOf({ statusCode, message }: ErrorBody): PersonPage {
  if (statusCode >= 500) return LATER;
  if (statusCode === 429) return TOO_MANY;
  return { title: 'This link does not work', paragraphs: [`${message}.`] };
}
