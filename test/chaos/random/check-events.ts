import { named } from './check-emails.ts';
import type { History } from './history.ts';
import type { Outcome, RecordedDelivery, RecordedEmail, RecordedEvent } from './outcome.ts';

/** The event that tells of an entry of the timeline. */
const TOLD_AS: Readonly<Record<string, string>> = {
  SENT: 'EMAIL_SENT',
  DELAYED: 'EMAIL_DELAYED',
  REPLY_LOST: 'EMAIL_DELAYED',
  BOUNCED: 'EMAIL_BOUNCED',
  FAILED: 'EMAIL_FAILED',
  DELIVERED: 'EMAIL_DELIVERED',
  COMPLAINED: 'EMAIL_COMPLAINED',
  SUPPRESSED: 'EMAIL_FAILED',
};

/** What is wrong with the events of a workspace, in words. */
export function checkEvents(history: History, outcome: Outcome): string[] {
  return [
    ...checkFeed(outcome),
    ...outcome.events.flatMap((event) => checkDeliveries(event, outcome.webhookIds)),
    ...checkToldOfEmails(outcome),
    ...checkToldOfContacts(history, outcome),
  ];
}

/** Whether the feed has each event once, and in an order that nothing is ever put into. */
function checkFeed({ workspaceId, events, followed, feed }: Outcome): string[] {
  const ids = feed.map(({ id }) => id);
  const faults = {
    'the feed has not each event once': !areSame(ids.toSorted(), events.map(({ id }) => id).sort()),
    'who followed the feed has read something else': !areSame(
      ids,
      followed.map(({ id }) => id),
    ),
  };
  return named(workspaceId, faults);
}

/** Whether each webhook has got the event, always with the same bytes and id. Those that were deleted may have got it. */
export function checkDeliveries(
  { id, payload, deliveries }: RecordedEvent,
  webhookIds: readonly string[],
): string[] {
  const told = deliveries.map(({ webhookId }) => webhookId);
  const kept = told.filter((webhookId) => webhookIds.includes(webhookId));
  return [
    ...named(id, {
      'not for each webhook once': !areSame(kept.toSorted(), webhookIds.toSorted()),
      'more than once for a webhook': new Set(told).size < told.length,
    }),
    ...deliveries.flatMap((delivery) => {
      const subject = `${id} to ${delivery.webhookId}`;
      const isKept = webhookIds.includes(delivery.webhookId);
      return [
        ...(isKept ? checkDelivered(subject, delivery) : []),
        ...checkPosts(subject, payload, delivery),
      ];
    }),
  ];
}

function checkDelivered(subject: string, { status, posts }: RecordedDelivery): string[] {
  return named(subject, {
    [`the delivery is ${status}`]: status !== 'SUCCEEDED',
    'never posted': posts.length === 0,
  });
}

function checkPosts(subject: string, payload: string, { posts }: RecordedDelivery): string[] {
  return named(subject, {
    'posted without a signature of its webhook': posts.some(({ isSigned }) => !isSigned),
    'posted with other bytes': posts.some(({ body }) => body !== payload),
    'posted with different ids': new Set(posts.map(({ webhookId }) => webhookId)).size > 1,
  });
}

/** Whether the events about each email say what its timeline says. */
export function checkToldOfEmails({ emails, feed }: Outcome): string[] {
  const told = Map.groupBy(feed, ({ data }) => data.email?.id);
  return emails.flatMap(({ id, timeline }) => {
    const names = (told.get(id) ?? []).map(({ event }) => event);
    const expected = toldOf(timeline);
    return named(id, {
      [`told ${names.join()} of ${expected.join()}`]: !areSame(names.sort(), expected.sort()),
    });
  });
}

function toldOf(timeline: RecordedEmail['timeline']): string[] {
  return timeline.filter(({ isLate }) => !isLate).flatMap(({ kind }) => TOLD_AS[kind] ?? []);
}

/** Whether the events about each contact are what clients have done, in this order; repeating a call adds none. */
function checkToldOfContacts({ contacts, emails: wanted }: History, outcome: Outcome): string[] {
  const told = Map.groupBy(outcome.feed, ({ data }) => data.contact?.email);
  const mine = [...contacts.values()].filter(({ workspaceId }) => workspaceId === outcome.workspaceId);
  const created = outcome.emails
    .filter(({ to }) => wanted.get(to)?.isOfNewContact === true)
    .map(({ to }) => ({ email: to, events: ['CONTACT_CREATED'] }));
  const expected = new Map([...mine, ...created].map(({ email, events }) => [email, events]));
  told.delete(undefined);
  return [...new Set([...told.keys(), ...expected.keys()])].flatMap((email) => {
    const names = (told.get(email) ?? []).map(({ event }) => event);
    const events = expected.get(email!) ?? [];
    return named(email!, { [`told ${names.join()} of ${events.join()}`]: !areSame(names, events) });
  });
}

function areSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((one, n) => one === others[n]);
}
