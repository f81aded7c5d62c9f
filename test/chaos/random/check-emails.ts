import type { History, WantedEmail } from './history.ts';
import type { Outcome, RecordedEmail } from './outcome.ts';

/** The statuses in which the relay has an email. */
export const TAKEN = ['SENT', 'DELIVERED', 'COMPLAINED'];
export const GIVEN_UP = ['BOUNCED', 'FAILED', 'SUPPRESSED'];

/** What is wrong with the emails of a workspace, in words. */
export function checkEmails({ emails: wanted, copies, returned }: History, outcome: Outcome): string[] {
  const { workspaceId, emails } = outcome;
  const isOfHere = (email: WantedEmail): boolean => email.workspaceId === workspaceId;
  const byRecipient = Map.groupBy(emails, ({ to }) => to);
  const mine = [...wanted.values()].filter(isOfHere);
  const copied = [...copies].filter(([, of]) => isOfHere(of));
  return [
    ...emails.filter(({ to }) => !wanted.has(to)).map(({ id }) => `${id}: nobody wanted it`),
    ...mine.flatMap((email) => {
      const recorded = byRecipient.get(email.to) ?? [];
      return checkFate(
        email,
        recorded.filter(({ id }) => !copies.has(id)),
        returned.has(email.to),
      );
    }),
    ...copied.flatMap(([id, of]) => checkCopy(id, of, byRecipient.get(of.to) ?? [], returned.has(of.to))),
    ...emails.flatMap(checkArrival),
    ...checkCounts(outcome),
  ];
}

/** Whether what a client was told is what is recorded. @param isReturned whether something came back about an email to its recipient */
function checkFate(wanted: WantedEmail, recorded: readonly RecordedEmail[], isReturned: boolean): string[] {
  const { to, fate, accepted, isUnwanted, isCancelled, subject, attachment } = wanted;
  const [email] = recorded;
  if (recorded.length > 1) return [`${to}: one call has made ${recorded.length} emails`];
  if (email === undefined) return fate === 'accepted' ? [`${accepted!.id}: accepted, and not there`] : [];
  const isOther =
    accepted !== undefined && (accepted.id !== email.id || accepted.messageId !== email.messageId);
  const faults = {
    'refused, and there': fate === 'refused',
    'another email than the accepted one': isOther,
    'said to be cancelled': isCancelled === true && email.status !== 'CANCELLED',
    'cancelled without being told so': isCancelled !== true && email.status === 'CANCELLED',
    'sent to somebody who has unsubscribed': isUnwanted && isSent(email),
    'sent with another subject': email.copies.some((copy) => !copy.includes(`Subject: ${subject}\r\n`)),
    'sent without its attachment': email.copies.some((copy) => !hasAttachment(copy, attachment)),
    'suppressed for no reason': !isUnwanted && !isReturned && email.status === 'SUPPRESSED',
  };
  return named(`${email.id} (${email.status})`, faults);
}

/** @param attachment in base64 */
function hasAttachment(message: Buffer, attachment = ''): boolean {
  return message.toString('latin1').replaceAll('\r\n', '').includes(attachment);
}

/** Whether an email that an operator has sent again is there, and goes to nobody who wants no more. @param recorded all emails to its recipient */
function checkCopy(
  id: string,
  { isUnwanted }: WantedEmail,
  recorded: readonly RecordedEmail[],
  isReturned: boolean,
): string[] {
  const copy = recorded.find((email) => email.id === id);
  if (copy === undefined) return [`${id}: sent again, and not there`];
  const hasBounced = isReturned || recorded.some(({ status }) => status === 'BOUNCED');
  return named(`${id} (${copy.status})`, {
    'cancelled by nobody': copy.status === 'CANCELLED',
    'sent again to somebody who wants no more': isUnwanted && isSent(copy),
    'suppressed for no reason': !isUnwanted && !hasBounced && copy.status === 'SUPPRESSED',
  });
}

/** Whether it was, or would have been; FAILED: an operator has given it up before. */
function isSent({ status, copies }: RecordedEmail): boolean {
  return !['SUPPRESSED', 'FAILED'].includes(status) || copies.length > 0;
}

/** Whether what is recorded is what the relay has seen. */
function checkArrival({ id, status, timeline, copies, preview }: RecordedEmail): string[] {
  const hasFailedLater = timeline.some(({ report, isLate }) => report === 'failed' && !isLate);
  const wasTaken = TAKEN.includes(status) || hasFailedLater;
  const marks = timeline.filter(({ mayBeDuplicate }) => mayBeDuplicate).length;
  const faults = {
    'not decided': ![...TAKEN, ...GIVEN_UP, 'CANCELLED'].includes(status),
    'lost': wasTaken && copies.length === 0,
    'doubled without a mark': wasTaken && copies.length > 1 + marks,
    'given up, and arrived': GIVEN_UP.includes(status) && !wasTaken && copies.length > marks,
    'cancelled, and arrived': status === 'CANCELLED' && copies.length > 0,
    'sent twice': timeline.filter(({ kind, isLate }) => kind === 'SENT' && !isLate).length > 1,
    'sent with different bytes': copies.some((copy) => !copy.equals(copies[0]!)),
    'sent otherwise than its preview shows': preview !== undefined && !preview.equals(copies[0]!),
  };
  return named(`${id} (${status}, ${copies.length} copies, ${JSON.stringify(timeline)})`, faults);
}

/** Whether the numbers of a workspace are exact. */
export function checkCounts({ workspaceId, emails, limit, counted, stats }: Outcome): string[] {
  const uncancelled = emails.filter(({ status }) => status !== 'CANCELLED').length;
  const shown = [...TAKEN, ...GIVEN_UP, 'CANCELLED', 'SCHEDULED'].filter(
    (status) => stats[status.toLowerCase()] !== emails.filter((email) => email.status === status).length,
  );
  const faults = {
    [`${counted} emails are counted, and ${uncancelled} are there`]: counted !== uncancelled,
    [`its limit of ${limit} emails is exceeded`]: limit !== null && uncancelled > limit,
    [`its statistics are wrong about ${shown.join(', ')}`]: shown.length > 0,
    ['its statistics are wrong about all']: stats['accepted'] !== emails.length,
  };
  return named(workspaceId, faults);
}

/** The names of what is true, of something. */
export function named(subject: string, faults: Readonly<Record<string, boolean>>): string[] {
  return Object.entries(faults).flatMap(([fault, isTrue]) => (isTrue ? [`${subject}: ${fault}`] : []));
}
