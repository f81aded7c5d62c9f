import { describe, expect, it } from '@jest/globals';
import type { SmtpReply, SmtpStage } from '../delivery.ts';
import { classifyReply, replyClassOf } from './classify-reply.ts';
import { classOfEnhancedCode } from './enhanced-codes.ts';
import { KNOWN_REPLIES, knownReply } from './known-replies.ts';
import { REPLY_CLASS_NAMES, REPLY_CLASSES } from './reply-classes.ts';

const WITH_ENHANCED = /^(\d{3}) (\d\.\d{1,3}\.\d{1,3}) (.*)$/s;

function replyOf(line: string): SmtpReply {
  const [, code, enhancedCode, text] = WITH_ENHANCED.exec(line) ?? [];
  if (enhancedCode !== undefined) return { code: Number(code), enhancedCode, text: text! };
  return { code: Number(line.slice(0, 3)), text: line.slice(4) };
}

const classAt = (stage: SmtpStage, line: string): string => classifyReply(replyOf(line), stage);

describe('the table of reply classes', () => {
  it('S19: suppresses only bounced recipients, and all unknown ones', () => {
    const suppressing = REPLY_CLASS_NAMES.filter((name) => REPLY_CLASSES[name].suppresses);
    expect(suppressing).toEqual(['unknown_user', 'hard_bounce']);
    for (const name of suppressing) expect(REPLY_CLASSES[name].status).toBe('BOUNCED');
  });

  it('retries no sooner than after a minute when the server asked to slow down', () => {
    for (const name of ['rate_limited', 'blocked', 'mailbox_full'] as const) {
      expect(REPLY_CLASSES[name].retryNotBeforeSeconds).toBeGreaterThanOrEqual(300);
    }
  });
});

describe('a known reply', () => {
  it.each(KNOWN_REPLIES.map((known) => [known.by, known.class, known.reply, known] as const))(
    'of %s is %s: %s',
    (_by, replyClass, reply, known) => {
      expect(known.text.test(reply)).toBe(true);
      expect(classAt('rcpt', reply)).toBe(replyClass);
      // The words are enough where a server gives no enhanced code, and no rule before this one takes them for something else.
      expect(knownReply(replyOf(reply).text)?.class).toBe(replyClass);
    },
  );

  it('matches the longest text quickly, whatever it contains', () => {
    const texts = ['a', ' ', '-', 'mailbox ', 'limit ', 'connecting ip ', 'blocked', '[TS', '('].map((part) =>
      part.repeat(512 / part.length),
    );
    const before = process.threadCpuUsage();
    for (const text of texts) knownReply(text);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(200);
  });
});

describe('classifying a reply', () => {
  it.each([
    ['550 5.1.1 whatever is said', 'unknown_user'],
    ['450 4.1.1 User unknown in virtual mailbox table', 'unknown_user'],
    ['550 5.1.2 Bad destination system', 'hard_bounce'],
    ['556 5.1.10 Domain does not accept mail', 'hard_bounce'],
    ['553 5.1.8 Sender domain not found', 'sender'],
    ['452 4.2.2 Mailbox full', 'mailbox_full'],
    ['552 5.3.4 Message too big', 'size'],
    ['550 5.7.26 Unauthenticated', 'policy'],
    ['421 4.7.28 Flood', 'rate_limited'],
    ['550 5.7.511 Access denied, banned sender', 'blocked'],
    ['550 5.7.606 Access denied', 'blocked'],
    ['550 5.4.310 DNS domain does not exist', 'hard_bounce'],
  ])('goes by the enhanced code first: %s is %s', (line, replyClass) => {
    expect(classAt('rcpt', line)).toBe(replyClass);
  });

  it.each([
    ['551 User not local; please try <ada@example.org>', 'unknown_user'],
    ['521 This host takes no mail', 'hard_bounce'],
    ['556 This domain takes no mail', 'hard_bounce'],
    ['535 wrong', 'relay'],
  ])('then by the code: %s is %s', (line, replyClass) => {
    expect(classAt('rcpt', line)).toBe(replyClass);
  });

  it.each([
    '550 5.2.1 The user you are trying to contact is receiving mail at a rate that prevents delivery',
    '550 User shop@example.com has exceeded its 24-hour sending limit. Messages to 250 recipients out of 250 allowed have been sent.',
    '550 5.4.6 Mail rate exceeded limit.',
    '451 You’ve exceeded your messaging limits',
    '451 You’ve reached your daily sending limit',
    '451 4.7.1 Hourly limit exceeded',
    '451 4.7.1 Ratelimit "mailcow" exceeded',
    '554 5.7.1 <ada@example.net>: Recipient address rejected: Policy Rejection- SENDER_QUOTA_REJECTION',
  ])('recognises limits in temporary and permanent replies: %s', (line) => {
    expect(classAt('rcpt', line)).toBe('rate_limited');
    expect(classAt('content', line)).toBe('rate_limited');
  });

  it.each([
    ['rcpt', '550 nope', 'hard_bounce'],
    ['rcpt', '550 5.7.1 nope', 'policy'],
    ['rcpt', '550 Message rejected', 'content'],
    ['rcpt', '550 Your message was blocked, as it contains a link', 'content'],
    ['rcpt', '550 Mail rejected: no such user', 'unknown_user'],
    ['rcpt', '550 Mail refused: mailbox is disabled', 'hard_bounce'],
    ['rcpt', '552 nope', 'mailbox_full'],
    ['rcpt', '554 nope', 'policy'],
    ['rcpt', '450 nope', 'soft_bounce'],
    ['rcpt', '421 nope', 'soft_bounce'],
    ['rcpt', '553 sorry, your envelope sender is in my badmailfrom list (#5.7.1)', 'sender'],
    ['rcpt', '550 5.1.0 Sender denied', 'sender'],
    ['rcpt', '550 must be authenticated', 'policy'],
    ['rcpt', '550 Unauthenticated senders not allowed', 'policy'],
    ['rcpt', '550 Access denied - Invalid HELO name (See RFC2821 4.1.1.1)', 'policy'],
    ['rcpt', '550 SC-001 (BAY004) Unfortunately, messages from 192.0.2.1 weren’t sent', 'policy'],
    ['rcpt', '550 sorry, we do not relay', 'policy'],
    ['rcpt', '550 relay.example.net takes nothing for this mailbox', 'hard_bounce'],
    ['rcpt', '550 <relay@example.net> mailbox unavailable', 'hard_bounce'],
    ['rcpt', '550 mailbox unavailable, mx.example.net [192.0.2.1]', 'hard_bounce'],
    [
      'rcpt',
      '550 Requested action not taken: mailbox unavailable For explanation visit https://postmaster.example.net/en/error-messages?ip=192.0.2.1&c=hd',
      'hard_bounce',
    ],
    ['rcpt', '552 Mailbox has too many emails', 'mailbox_full'],
    ['content', '552 Your account has been suspended. Please contact us to reactivate', 'relay'],
    ['rcpt', '550 5.4.316 Message expired, connection refused(Socket error code 10061)', 'soft_bounce'],
    ['rcpt', '550 5.4.312 Message expired, DNS query failed(ErrorRetry)', 'soft_bounce'],
    ['content', '550 nope', 'content'],
    ['content', '552 nope', 'size'],
    ['content', '451 nope', 'soft_bounce'],
    ['data', '554 nope', 'content'],
    ['data', '421 nope', 'relay'],
    ['mail', '550 nope', 'relay'],
    ['mail', '550 Invalid sender', 'sender'],
    ['mail', '552 5.3.4 nope', 'size'],
    ['greeting', '550 5.1.1 nope', 'relay'],
    ['auth', '535 5.7.8 nope', 'relay'],
    ['content', '250 queued', 'sent'],
  ] as const)('and else by the stage: at %s %s is %s', (stage, line, replyClass) => {
    expect(classAt(stage, line)).toBe(replyClass);
  });

  it.each([
    ['rcpt', '550 Unknown user ada@docomo.ne.jp', 'unknown_user'],
    ['rcpt', '550 <ada@ezweb.ne.jp>: User unknown', 'unknown_user'],
    ['content', '550 Unknown user ada@docomo.ne.jp', 'policy'],
    ['content', '550 <ada@ezweb.ne.jp>: User unknown', 'policy'],
    [
      'content',
      '554 delivery error: dd This user doesn’t have a yahoo.com account (ada@yahoo.com)',
      'unknown_user',
    ],
  ] as const)(
    'knows who names a filter like an unknown recipient: at %s %s is %s',
    (stage, line, replyClass) => {
      expect(classAt(stage, line)).toBe(replyClass);
    },
  );

  it.each([
    ['550 5.1.1 <shop@example.com> sender is blacklisted', 'blocked'],
    ['552 5.1.1 5.2.2 sorry, final recipient mailbox is full (chkuser)', 'mailbox_full'],
    ['550 5.0.0 <ada@example.net>... Can’t create output', 'mailbox_full'],
    ['550 Mailbox full', 'mailbox_full'],
    ['550 The recipient’s mailbox is full', 'mailbox_full'],
    ['550 Access denied', 'policy'],
    ['550 5.7.0 [SPF] 192.0.2.1 is not allowed to send mail from example.com', 'policy'],
    ['550 Mail rejete. OFR_506 [506]', 'content'],
    ['550 Trop de connexions, veuillez verifier votre configuration', 'rate_limited'],
    ['550 Rejected by policy', 'policy'],
    ['550 Server too busy', 'soft_bounce'],
    ['550 Too many invalid recipients', 'blocked'],
    ['550 5.1.1 szn; User hasn’t got the service mapped', 'unknown_user'],
    ['550 Adressat unbekannt oder Mailbox deaktiviert', 'unknown_user'],
  ])('does not take for dead who may be alive: %s is %s', (line, replyClass) => {
    expect(classAt('rcpt', line)).toBe(replyClass);
  });

  it('has no class for a broken connection or a missing reply', () => {
    expect(replyClassOf({ kind: 'broken', stage: 'rcpt', error: 'gone' })).toBeUndefined();
    expect(replyClassOf({ kind: 'unknown', error: 'gone' })).toBeUndefined();
    expect(replyClassOf({ kind: 'accepted', reply: { code: 250, text: 'ok' } })).toBe('sent');
  });

  it.each(['5.0.0', '5.7.1', '5.5.0', '5.4.1', '4.2.1', '5.999.999'])(
    'assigns no class to %s, which is used for anything',
    (code) => {
      expect(classOfEnhancedCode(code)).toBeUndefined();
    },
  );
});
