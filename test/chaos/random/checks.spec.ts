import { describe, expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import type { FeedEvent } from '../feed-follower.ts';
import { checkActs } from './check-acts.ts';
import { checkEmails } from './check-emails.ts';
import { checkEvents } from './check-events.ts';
import { checkLosses } from './check-losses.ts';
import { checkRemovals } from './check-removals.ts';
import { checkReports } from './check-reports.ts';
import { History } from './history.ts';
import { Past } from './lineage.ts';
import type { SentEmail } from './losing-client.ts';
import type { AuditRow, Outcome, RecordedEmail, RecordedEvent } from './outcome.ts';

const workspaceId = newId('wrk', Date.now());
const id = newId('trs', Date.now());
const TO = 'ann@receiver.example';
const COPY = Buffer.from('Subject: Hello\r\n\r\n');
const OTHER_COPY = Buffer.from('Subject: Hello\r\nX: 1\r\n\r\n');
const SENT = { kind: 'SENT', isLate: false, mayBeDuplicate: false, report: null };
const MARKED = { ...SENT, mayBeDuplicate: true };
const FAILED_LATER = { ...SENT, kind: 'BOUNCED', report: 'failed' };

const COPY_ID = newId('trs', Date.now());
const BOUNCED = { status: 'BOUNCED', copies: [], timeline: [{ ...SENT, kind: 'BOUNCED' }] };
const CANCELLED: AuditRow[] = [{ action: 'email.cancelled', subjectId: id, copyOf: null }];
const ofCopies = (subjectId: string): AuditRow[] => [{ action: 'email.sent_again', subjectId, copyOf: id }];

const told: FeedEvent = { id: 'evt_1', event: 'EMAIL_SENT', data: { email: { id } } };
const post = { body: '{}', webhookId: 'msg_1', isSigned: true };
const delivery = { webhookId: 'wh_1', status: 'SUCCEEDED', posts: [post] };
const event: RecordedEvent = { id: told.id, payload: '{}', deliveries: [delivery] };
const email: RecordedEmail = { id, to: TO, messageId: 'm', status: 'SENT', timeline: [SENT], copies: [COPY] };

/** One email that was accepted, has arrived and was told of; with something changed. */
function outcomeWith(change: Partial<Outcome> = {}): Outcome {
  const emails = change.emails ?? [email];
  const stats: Record<string, number> = { accepted: emails.length };
  for (const status of [
    'SCHEDULED',
    'SENT',
    'DELIVERED',
    'COMPLAINED',
    'BOUNCED',
    'FAILED',
    'SUPPRESSED',
    'CANCELLED',
  ])
    stats[status.toLowerCase()] = emails.filter((one) => one.status === status).length;
  const counted = emails.filter(({ status }) => status !== 'CANCELLED').length;
  const events = [event];
  const rest = { followed: [told], feed: [told], audit: [] };
  return { workspaceId, limit: 1, webhookIds: ['wh_1'], emails, events, counted, stats, ...rest, ...change };
}

function historyWith(change: object = {}): History {
  const history = new History();
  const accepted = { id, messageId: 'm' };
  Object.assign(history.want(workspaceId, TO), { fate: 'accepted', accepted }, change);
  return history;
}

const found = (outcome: Outcome, history = historyWith()): string[] => [
  ...checkEmails(history, outcome),
  ...checkEvents(history, outcome),
  ...checkActs(history, outcome),
];
const ofEmail = (change: Partial<RecordedEmail>): string[] =>
  checkEmails(historyWith(), outcomeWith({ emails: [{ ...email, ...change }] }));
const unsigned = { ...post, isSigned: false };
/** Of a webhook that was deleted. */
const DELETED = { webhookId: 'wh_2', status: 'CANCELLED', posts: [] };
const ofDeliveries = (deliveries: RecordedEvent['deliveries']): string[] =>
  checkEvents(historyWith(), outcomeWith({ events: [{ ...event, deliveries }] }));
/** An email that was sent again; with something changed. */
function ofCopy({
  copy = {},
  original = {},
  audit = ofCopies(COPY_ID),
  isThere = true,
  isKnown = true,
  isUnwanted = false,
  hasMoved = false,
}: Partial<CopyChange> = {}): string[] {
  const history = historyWith({ isUnwanted });
  if (isKnown) history.copies.set(COPY_ID, history.emails.get(TO)!);
  if (hasMoved) history.moved.add(id);
  const emails = [
    { ...email, ...original },
    { ...email, id: COPY_ID, messageId: 'c', ...copy },
  ];
  const outcome = outcomeWith({ limit: null, emails: isThere ? emails : [email], audit });
  return [...checkEmails(history, outcome), ...checkActs(history, outcome)];
}

interface CopyChange {
  readonly copy: Partial<RecordedEmail>;
  readonly original: Partial<RecordedEmail>;
  readonly audit: readonly AuditRow[];
  readonly isThere: boolean;
  readonly isKnown: boolean;
  readonly isUnwanted: boolean;
  readonly hasMoved: boolean;
}

const ofDelivery = (change: Partial<typeof delivery>): string[] => ofDeliveries([{ ...delivery, ...change }]);

describe('The checks of a history find', () => {
  it('nothing where nothing is wrong', () => {
    expect(found(outcomeWith())).toEqual([]);
    const marked = { ...SENT, mayBeDuplicate: true };
    expect(ofEmail({ timeline: [marked], copies: [COPY, COPY] })).toEqual([]);
    expect(ofDeliveries([delivery, DELETED])).toEqual([]);
    expect(ofEmail({ status: 'BOUNCED', timeline: [SENT, FAILED_LATER] })).toEqual([]);
    expect(ofReport('failed')).toEqual([]);
  });

  it.each<[string, string[]]>([
    ['lost', ofEmail({ copies: [] })],
    ['doubled without a mark', ofEmail({ copies: [COPY, COPY] })],
    [
      'doubled without a mark',
      ofEmail({ status: 'BOUNCED', timeline: [FAILED_LATER], copies: [COPY, COPY] }),
    ],
    ['lost', ofEmail({ status: 'BOUNCED', timeline: [FAILED_LATER], copies: [] })],
    ['a report that it is delivered was taken, and is not recorded', ofReport('delivered')],
    ['sent twice', ofEmail({ timeline: [SENT, SENT] })],
    ['sent with different bytes', ofEmail({ copies: [COPY, OTHER_COPY] })],
    ['sent otherwise than its preview shows', ofEmail({ preview: OTHER_COPY })],
    ['sent with another subject', found(outcomeWith(), historyWith({ subject: 'Version 2' }))],
    ['sent without its attachment', found(outcomeWith(), historyWith({ attachment: 'aGVsbG8=' }))],
    ['not decided', ofEmail({ status: 'SCHEDULED' })],
    ['given up, and arrived', ofEmail({ status: 'BOUNCED' })],
    ['cancelled, and arrived', ofEmail({ status: 'CANCELLED' })],
    ['cancelled without being told so', ofEmail({ status: 'CANCELLED' })],
    ['suppressed for no reason', ofEmail({ status: 'SUPPRESSED' })],
    ['nobody wanted it', ofEmail({ to: 'somebody@receiver.example' })],
    ['another email than the accepted one', ofEmail({ messageId: 'n' })],
    ['one call has made 2 emails', found(outcomeWith({ emails: [email, email] }))],
    ['accepted, and not there', found(outcomeWith({ emails: [] }))],
    ['refused, and there', found(outcomeWith(), historyWith({ fate: 'refused' }))],
    ['said to be cancelled', found(outcomeWith(), historyWith({ isCancelled: true }))],
    ['sent to somebody who has unsubscribed', found(outcomeWith(), historyWith({ isUnwanted: true }))],
  ])('an email that is wrong: %s', (fault, faults) => {
    expect(faults).toContainEqual(expect.stringContaining(fault));
  });

  it.each<[string, string[]]>([
    ['2 emails are counted, and 1 are there', found(outcomeWith({ counted: 2 }))],
    ['its limit of 0 emails is exceeded', found(outcomeWith({ limit: 0 }))],
    ['its statistics are wrong about SENT', found(outcomeWith({ stats: { accepted: 1, sent: 2 } }))],
    ['its statistics are wrong about all', found(outcomeWith({ stats: { sent: 1 } }))],
  ])('a number that is wrong: %s', (fault, faults) => {
    expect(faults).toContainEqual(expect.stringContaining(fault));
  });

  it.each<[string, string[]]>([
    ['the feed has not each event once', found(outcomeWith({ events: [] }))],
    ['who followed the feed has read something else', found(outcomeWith({ followed: [] }))],
    ['not for each webhook once', found(outcomeWith({ webhookIds: ['wh_1', 'wh_2'] }))],
    ['more than once for a webhook', ofDeliveries([delivery, DELETED, DELETED])],
    [
      'posted without a signature of its webhook',
      ofDeliveries([delivery, { ...DELETED, posts: [unsigned] }]),
    ],
    ['posted without a signature of its webhook', ofDelivery({ posts: [unsigned] })],
    ['the delivery is PENDING', ofDelivery({ status: 'PENDING' })],
    ['never posted', ofDelivery({ posts: [] })],
    ['posted with other bytes', ofDelivery({ posts: [{ ...post, body: '{"n":1}' }] })],
    ['posted with different ids', ofDelivery({ posts: [post, { ...post, webhookId: 'msg_2' }] })],
    ['told EMAIL_SENT of EMAIL_BOUNCED', ofToldOf('BOUNCED')],
    ['told  of CONTACT_CREATED', found(outcomeWith(), historyWith({ isOfNewContact: true }))],
  ])('an event that is wrong: %s', (fault, faults) => {
    expect(faults).toContainEqual(expect.stringContaining(fault));
  });

  it.each<[string, object]>([
    ['nothing was added that can be removed', { removed: [] }],
    ['an old email is still there', { emails: ['old', 'young'] }],
    ['a young email was removed', { emails: [] }],
    ['an old event is still there', { events: 1 }],
  ])('a removal that is wrong: %s', (fault, change) => {
    const right = { removed: ['old'], kept: ['young'], emails: ['young'], events: 0 };
    expect(checkRemovals(right)).toEqual([]);
    expect(checkRemovals({ ...right, ...change })).toEqual([`old data: ${fault}`]);
  });

  it('nothing wrong with an email that was sent again', () => {
    expect(ofCopy()).toEqual([]);
    expect(ofCopy({ copy: { status: 'SUPPRESSED', copies: [], timeline: [] }, original: BOUNCED })).toEqual(
      [],
    );
  });

  it.each<[string, string[]]>([
    ['sent again, and not there', ofCopy({ isThere: false })],
    ['one call has made 2 emails', ofCopy({ isKnown: false })],
    ['sent again to somebody who wants no more', ofCopy({ isUnwanted: true })],
    ['cancelled by nobody', ofCopy({ copy: { status: 'CANCELLED', copies: [] } })],
    ['suppressed for no reason', ofCopy({ copy: { status: 'SUPPRESSED', copies: [] } })],
    ['recorded as a copy of something else', ofCopy({ audit: [] })],
    ['recorded as a copy of something else', ofCopy({ audit: [...ofCopies(COPY_ID), ...ofCopies(COPY_ID)] })],
    ['recorded as a copy of something else', ofCopy({ audit: [...ofCopies(COPY_ID), ...ofCopies(id)] })],
    ['cancelled by operators more than once', ofCopy({ audit: [...CANCELLED, ...CANCELLED] })],
    ['recorded as cancelled', ofCopy({ audit: CANCELLED })],
    ['moved, and not recorded', ofCopy({ hasMoved: true })],
  ])('an act of an operator that is wrong: %s', (fault, faults) => {
    expect(faults).toContainEqual(expect.stringContaining(fault));
  });

  it('a contact of which something is told that nobody did', () => {
    const history = historyWith();
    history.contact(workspaceId, 'bob@receiver.example').events.push('CONTACT_CREATED');
    expect(found(outcomeWith(), history)).toEqual(['bob@receiver.example: told  of CONTACT_CREATED']);
  });
});

describe('The checks of a database that was lost find nothing in', () => {
  const lost = { id, begunMs: 15, answeredMs: 16 };
  const complaint: FeedEvent = { ...told, event: 'EMAIL_COMPLAINED' };
  const ofDoubledBefore = {
    email: {
      status: 'COMPLAINED',
      copies: [COPY, COPY],
      timeline: [{ ...SENT, kind: 'COMPLAINED', report: 'complaint' }],
    },
    outcome: { feed: [complaint], followed: [complaint] },
  };

  it.each([
    ['what nothing is wrong with', ofLosses({})],
    ['what was accepted in a lost time', ofLosses({ isThere: false, sent: { acceptances: [lost] } })],
    ['what was moved in a lost time', ofLosses({ email: { copies: [COPY, COPY] }, sent: { moves: [lost] } })],
    ['what is marked', ofLosses({ email: { copies: [COPY, COPY], timeline: [MARKED] } })],
    ['what was doubled in lost times, if a report has told of it', ofLosses(ofDoubledBefore)],
  ])('%s', (_what, faults) => {
    expect(faults).toEqual([]);
  });
});

describe('The checks of a database that was lost find', () => {
  const kept = { id, begunMs: 5, answeredMs: 6 };
  const unsent = { status: 'FAILED', timeline: [{ ...SENT, kind: 'FAILED' }] };

  it.each([
    ['nobody wanted it', ofLosses({ sent: { to: 'bob@receiver.example' } })],
    ['accepted in a time that is not lost', ofLosses({ isThere: false, sent: { acceptances: [kept] } })],
    ['said to be cancelled', ofLosses({ sent: { cancellations: [{ ...kept, isCancelled: true }] } })],
    ['cancelled by nobody', ofLosses({ email: { status: 'CANCELLED', copies: [], timeline: [] } })],
    ['not decided', ofLosses({ email: { status: 'SCHEDULED' } })],
    [': lost', ofLosses({ email: { copies: [] } })],
    ['doubled without a mark', ofLosses({ email: { copies: [COPY, COPY] } })],
    ['doubled without a mark', ofLosses({ email: { copies: [COPY, COPY] }, sent: { moves: [kept] } })],
    ['not sent, and arrived', ofLosses({ email: unsent })],
    ['sent twice', ofLosses({ email: { timeline: [SENT, SENT] } })],
    ['sent with different bytes', ofLosses({ email: { copies: [COPY, OTHER_COPY], timeline: [MARKED] } })],
    ['has missed 1 of 1', ofLosses({ outcome: { followed: [] } })],
    ['read events twice', ofLosses({ outcome: { followed: [told, told] } })],
    ['the feed has not each event once', ofLosses({ outcome: { feed: [told, told] } })],
  ])('%s', (fault, faults) => {
    expect(faults).toContainEqual(expect.stringContaining(fault));
  });
});

/** Of an email in a database whose backup was begun at 10, and restored just now. */
function ofLosses({
  email: change = {},
  isThere = true,
  sent = {},
  outcome = {},
}: {
  email?: Partial<RecordedEmail>;
  isThere?: boolean;
  sent?: Partial<SentEmail>;
  outcome?: Partial<Outcome>;
}): string[] {
  const past = new Past();
  past.becomes({ spans: [{ fromMs: 0, toMs: 10 }] });
  const one: SentEmail = {
    to: TO,
    isKeyed: true,
    isScheduled: true,
    acceptances: [],
    moves: [],
    cancellations: [],
    repeat: () => Promise.resolve(),
    ...sent,
  };
  const emails = isThere ? [{ ...email, ...change }] : [];
  return checkLosses([one], past, outcomeWith({ emails, ...outcome }));
}

/** Of an email that has bounced later, about which a report of this kind was taken. */
function ofReport(kind: string): string[] {
  const history = historyWith();
  history.reports.push({ messageId: 'm', kind });
  return checkReports(
    history,
    outcomeWith({ emails: [{ ...email, status: 'BOUNCED', timeline: [SENT, FAILED_LATER] }] }),
  );
}

function ofToldOf(kind: string): string[] {
  return found(outcomeWith({ emails: [{ ...email, timeline: [{ ...SENT, kind }] }] }));
}
