import { maskedAddress } from '@posthorn/domain';
import type { Subscription } from '@posthorn/database';
import type { LandingPage } from '../pages/landing-page.ts';

/** The targets of a page's buttons, relative to it. */
export interface Buttons {
  readonly unsubscribe: string;
  readonly resubscribe: string;
}

/** The page behind an unsubscribe link; shows the address only masked. */
export function subscriptionPage(
  { workspaceName, email, status }: Subscription,
  { unsubscribe, resubscribe }: Buttons,
): LandingPage {
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

/** The page after subscribing again. */
export function resubscribedPage(subscription: Subscription, buttons: Buttons): LandingPage {
  const { workspaceName, email } = subscription;
  return {
    ...subscriptionPage(subscription, buttons),
    title: 'You are subscribed again',
    paragraphs: [
      `“${workspaceName}” sends its emails to ${maskedAddress(email)} again. You can close this page, or unsubscribe.`,
    ],
  };
}
