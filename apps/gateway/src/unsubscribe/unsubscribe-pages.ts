import { maskedAddress } from '@posthorn/domain';
import type { Subscription } from '@posthorn/database';
import type { PersonPage } from '../pages/person-page.ts';

/** Where the button of a page leads, as seen from it. */
export interface Buttons {
  readonly unsubscribe: string;
  readonly resubscribe: string;
}

/** What somebody sees who comes by an unsubscribe link; of the address only what its owner knows it by. */
export function subscriptionPage(
  { workspaceName, email, status }: Subscription,
  { unsubscribe, resubscribe }: Buttons,
): PersonPage {
  const address = maskedAddress(email);
  if (status === 'SUBSCRIBED')
    return {
      title: `Unsubscribe from “${workspaceName}”?`,
      paragraphs: [
        `“${workspaceName}” sends emails to ${address}. Once you have unsubscribed, emails like the one that you came from do not reach you any more.`,
        'Others that you need, such as receipts, still do.',
      ],
      button: 'Unsubscribe',
      postsTo: unsubscribe,
    };
  return {
    title: 'You are unsubscribed',
    paragraphs: [
      `Emails like the one that you came from are not sent to ${address} any more by “${workspaceName}”. You can close this page.`,
      'Was it a mistake? Then subscribe again.',
    ],
    button: 'Subscribe again',
    postsTo: resubscribe,
  };
}

/** What somebody sees once they are subscribed again. */
export function resubscribedPage(subscription: Subscription, buttons: Buttons): PersonPage {
  const { workspaceName, email } = subscription;
  return {
    ...subscriptionPage(subscription, buttons),
    title: 'You are subscribed again',
    paragraphs: [
      `“${workspaceName}” sends its emails to ${maskedAddress(email)} again. You can close this page, or unsubscribe.`,
    ],
  };
}
