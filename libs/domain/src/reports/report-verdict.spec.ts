import { describe, expect, it } from '@jest/globals';
import type { SmtpReply } from '../delivery.ts';
import { EMAIL_STATUSES, type EmailStatus } from '../email-status.ts';
import { type Report, reportAbout, type ReportKind } from './report.ts';
import { decideAfterReport } from './report-verdict.ts';
import type { RecipientAction, RecipientStatus } from './returned-mail.ts';

const RECIPIENT = 'ada@example.net';
const unknownUser: SmtpReply = { code: 550, enhancedCode: '5.1.1', text: 'no such user' };
const statuses = Object.keys(EMAIL_STATUSES) as EmailStatus[];
/** Scheduled: in a backup that was restored after it was sent. */
const UNDECIDED: readonly EmailStatus[] = ['SCHEDULED', 'SENT'];
const failed = (reply: SmtpReply, isAboutRecipient = true): Report => ({
  kind: 'failed',
  reply,
  isAboutRecipient,
});
const of = (kind: ReportKind): Report => ({ kind, isAboutRecipient: true, reply: unknownUser });

describe('the verdict on a report', () => {
  it.each<[string, SmtpReply, string, string | null]>([
    ['there is nobody', unknownUser, 'BOUNCED', 'HARD_BOUNCE'],
    ['the mailbox is full', { code: 552, enhancedCode: '5.2.2', text: 'full' }, 'BOUNCED', null],
    ['a block list', { code: 550, enhancedCode: '5.7.1', text: 'listed at Spamhaus' }, 'FAILED', null],
    ['a server that gave up', { code: 450, enhancedCode: '4.4.1', text: 'timed out' }, 'FAILED', null],
    ['a relay without our password', { code: 550, enhancedCode: '5.7.8', text: 'no' }, 'FAILED', null],
  ])('S19, W12: by the table of replies: %s', (_what, reply, status, suppression) => {
    for (const before of UNDECIDED)
      expect(decideAfterReport(failed(reply), before)).toMatchObject({
        fact: status,
        status,
        event: `EMAIL_${status}`,
        suppression,
        isLate: false,
      });
  });

  it('suppresses nobody because of a message that the server refused', () => {
    const refused: Report = { ...failed({ code: 550, text: 'we do not want this' }), stage: 'content' };
    expect(decideAfterReport(refused, 'SENT')).toMatchObject({
      status: 'FAILED',
      class: 'content',
      suppression: null,
    });
  });

  it('suppresses nobody because of an address to which the mail was forwarded', () => {
    expect(decideAfterReport(failed(unknownUser, false), 'SENT')).toMatchObject({
      status: 'BOUNCED',
      suppression: null,
    });
  });

  it.each(statuses.filter((status) => !UNDECIDED.includes(status)))(
    'changes nothing but the timeline of %s',
    (status) => {
      for (const kind of ['failed', 'delayed', 'delivered'] as const) {
        expect(decideAfterReport(of(kind), status)).toMatchObject({
          status: null,
          event: null,
          suppression: null,
          isLate: true,
        });
      }
    },
  );

  it('S19: accepts a complaint whatever the status, and never reverts a status', () => {
    for (const status of statuses) {
      const verdict = decideAfterReport(of('complaint'), status);
      expect(verdict).toMatchObject({ event: 'EMAIL_COMPLAINED', suppression: 'COMPLAINT' });
      expect(verdict.status).toBe([...UNDECIDED, 'DELIVERED'].includes(status) ? 'COMPLAINED' : null);
    }
  });

  it('S8: a delivery is DELIVERED, a delay causes an event, and an unrecognised report does nothing', () => {
    expect(decideAfterReport(of('delivered'), 'SENT')).toMatchObject({ status: 'DELIVERED' });
    expect(decideAfterReport(of('delayed'), 'SENT')).toMatchObject({ status: null, event: 'EMAIL_DELAYED' });
    for (const status of statuses) {
      expect(decideAfterReport(of('unrecognised'), status)).toEqual({
        fact: 'UNRECOGNISED',
        status: null,
        event: null,
        suppression: null,
        isLate: false,
      });
    }
  });
});

describe('the report of a returned mail', () => {
  const said = (action: RecipientAction, ...recipients: string[]): RecipientStatus => ({
    action,
    recipients,
    reply: unknownUser,
    stage: 'rcpt',
  });
  const about = (...lines: RecipientStatus[]): Report =>
    reportAbout(RECIPIENT, { type: 'delivery', statuses: lines });

  it('is that about the recipient, whatever it says about others', () => {
    const report = about(said('delivered', 'bob@example.net'), said('failed', 'ADA@example.net'));
    expect(report).toMatchObject({ kind: 'failed', isAboutRecipient: true });
  });

  it('is not about the recipient where the mail to them was forwarded, even if they are named too', () => {
    const report = about(said('failed', RECIPIENT, 'dead@example.org'), said('failed', 'a@example.org'));
    expect(report).toMatchObject({ kind: 'failed', isAboutRecipient: false });
    expect(about(said('failed', 'ADA@example.net', RECIPIENT))).toMatchObject({ isAboutRecipient: true });
  });

  it('is the best outcome among those to whom it was forwarded', () => {
    expect(about(said('failed', 'a@example.org'), said('delivered', 'b@example.org'))).toMatchObject({
      kind: 'delivered',
      isAboutRecipient: false,
    });
    expect(about(said('failed', 'a@example.org'))).toMatchObject({ kind: 'failed', isAboutRecipient: false });
  });

  it('is about the recipient where it names nobody', () => {
    expect(about(said('failed'))).toMatchObject({ kind: 'failed', isAboutRecipient: true });
  });

  it('is unrecognised where a server only forwarded the mail, or says nothing', () => {
    expect(about(said('relayed', RECIPIENT))).toMatchObject({ kind: 'unrecognised', reason: 'relayed' });
    expect(about()).toMatchObject({ kind: 'unrecognised', reason: 'no_status' });
  });

  it.each([
    ['abuse', 'complaint'],
    ['fraud', 'complaint'],
    ['opt-out', 'complaint'],
    ['not-spam', 'unrecognised'],
    ['auth-failure', 'unrecognised'],
    ['virus', 'unrecognised'],
  ])('treats feedback of the type %s as: %s', (feedbackType, kind) => {
    expect(reportAbout(RECIPIENT, { type: 'feedback', feedbackType })).toMatchObject({
      kind,
      reason: feedbackType,
    });
  });
});
