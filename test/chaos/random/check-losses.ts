import { checkCounts, GIVEN_UP, named, TAKEN } from './check-emails.ts';
import { checkDeliveries, checkToldOfEmails } from './check-events.ts';
import type { Past } from './lineage.ts';
import type { SentEmail } from './losing-client.ts';
import type { Outcome, RecordedEmail } from './outcome.ts';

/** What is wrong with the emails and events of a database that was lost and restored, in words. */
export function checkLosses(sent: readonly SentEmail[], past: Past, outcome: Outcome): string[] {
  const { emails, events, webhookIds } = outcome;
  const byRecipient = Map.groupBy(emails, ({ to }) => to);
  const wanted = new Map(sent.map((email) => [email.to, email]));
  return [
    ...emails.filter(({ to }) => !wanted.has(to)).map(({ id }) => `${id}: nobody wanted it`),
    ...sent.flatMap((email) => checkFate(email, past, byRecipient.get(email.to) ?? [])),
    ...emails.flatMap((email) => checkArrival(email, wanted.get(email.to)?.moves ?? [], past)),
    ...events.flatMap((event) => checkDeliveries(event, webhookIds)),
    ...checkToldOfEmails(outcome),
    ...checkFollowed(outcome),
    ...checkCounts(outcome),
  ];
}

/** Whether what is still known is what its client was told. */
function checkFate(
  { to, acceptances, cancellations }: SentEmail,
  past: Past,
  recorded: readonly RecordedEmail[],
): string[] {
  const ids = new Set<string>(recorded.map(({ id }) => id));
  const certain = acceptances.filter(({ begunMs, answeredMs }) => past.has(begunMs, answeredMs));
  const [email] = recorded;
  const cancelled = cancellations.filter(
    ({ id, isCancelled, begunMs, answeredMs }) =>
      isCancelled && id === email?.id && past.has(begunMs, answeredMs),
  );
  return named(`${to} (${[...ids].join()}, accepted ${JSON.stringify(acceptances)})`, {
    'one call has made several emails': recorded.length > 1,
    'accepted in a time that is not lost, and not there': certain.some(({ id }) => !ids.has(id)),
    'said to be cancelled': cancelled.length > 0 && email?.status !== 'CANCELLED',
    'cancelled by nobody': email?.status === 'CANCELLED' && cancellations.length === 0,
  });
}

/** Whether what is recorded is what the relay has seen, in all times. */
function checkArrival(
  { id, to, status, timeline, copies }: RecordedEmail,
  moves: SentEmail['moves'],
  past: Past,
): string[] {
  const hasFailedLater = timeline.some(({ report, isLate }) => report === 'failed' && !isLate);
  const wasTaken = TAKEN.includes(status) || hasFailedLater;
  // It may have left at an earlier time than the database knows.
  const isMovedInLostTime = moves.some(({ begunMs, answeredMs }) => !past.has(begunMs, answeredMs));
  const isMarked = isMovedInLostTime || timeline.some(({ mayBeDuplicate }) => mayBeDuplicate);
  // Otherwise a report has told what became of it: all copies are of lost times, and so are their marks.
  const isSentHere = timeline.some(({ kind }) => kind === 'SENT');
  return named(`${id} to ${to} (${status}, ${copies.length} copies, ${JSON.stringify(timeline)})`, {
    'not decided': ![...TAKEN, ...GIVEN_UP, 'CANCELLED'].includes(status),
    'lost': wasTaken && copies.length === 0,
    'doubled without a mark': wasTaken && isSentHere && copies.length > 1 && !isMarked,
    'not sent, and arrived': !wasTaken && copies.length > 0 && !isMarked,
    'sent twice': timeline.filter(({ kind, isLate }) => kind === 'SENT' && !isLate).length > 1,
    // Its Date is the time that it was moved to.
    'sent with different bytes': moves.length === 0 && copies.some((copy) => !copy.equals(copies[0]!)),
  });
}

/** Whether who follows the feed has read each event that is there. */
function checkFollowed({ workspaceId, feed, followed, events }: Outcome): string[] {
  const read = new Set(followed.map(({ id }) => id));
  const shown = new Set(feed.map(({ id }) => id));
  const missed = feed.filter(({ id }) => !read.has(id)).map(({ id }) => id);
  return named(workspaceId, {
    [`who followed the feed has missed ${missed.length} of ${feed.length}: ${missed.join(' ')}`]:
      missed.length > 0,
    'who followed the feed has read events twice': read.size < followed.length,
    'the feed has not each event once':
      shown.size !== feed.length || events.length !== feed.length || events.some(({ id }) => !shown.has(id)),
  });
}
