import { withoutOuterSpaces } from '@posthorn/kernel';
import { encodedWords } from './encoded-words.ts';
import { mailboxTokens, wireAddress, type Mailbox } from './mailboxes.ts';
import { refuseControls, UncomposableMessage } from './uncomposable-message.ts';

/** Lines are folded to this many characters (RFC 5322 asks for 78, RFC 2047 for 76 where encoded words are). */
const FOLD_AT = 76;
/** A longer word of a subject is encoded, because it could not be folded. */
const MAX_PLAIN_WORD = 64;
const PLAIN_SUBJECT = /^[\x20-\x7e]+$/;
/** A subject is folded only at these, because parsers could make one space of a fold and the spaces beside it. */
const SINGLE_SPACE = /(?<! ) (?! )/;
/** A URL that can be put between angle brackets, and that fits into a line with the name of its header (RFC 5322, section 2.1.1). */
const HEADER_URL = /^https?:\/\/[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/;
const HEADER_MAILTO = /^mailto:[\x21-\x3b\x3d\x3f-\x7e]{1,900}$/;
/** Up to four fields, the last of which names the sender. */
const FEEDBACK_ID = /^([A-Za-z0-9_-]{1,64}:){0,3}[A-Za-z0-9_-]{5,15}$/;
const ASCII_LOCAL = /^[\x21-\x7e]+@/;

/** Tokens, each after white space, folded only between them; a token longer than a line gets its own line. */
function folded(tokens: readonly string[], usedOfLine: number): string {
  let lines = '';
  let column = usedOfLine;
  for (const [index, token] of tokens.entries()) {
    // Never before the first token: some parsers do not accept an empty line after the colon.
    if (index > 0 && column + 1 + token.length > FOLD_AT) {
      lines += '\r\n';
      column = 0;
    }
    lines += ` ${token}`;
    column += 1 + token.length;
  }
  return lines;
}

/** `From`, `To` or `Reply-To` (RFC 5322, sections 3.6.2 and 3.6.3); each mailbox after the first begins a new line. */
export function mailboxesHeader(name: string, mailboxes: readonly Mailbox[]): string {
  const lines = mailboxes.map((mailbox, index) => {
    const used = index === 0 ? name.length + 1 : 0;
    return folded(mailboxTokens(name, mailbox, used + 1), used);
  });
  return `${name}:${lines.join(',\r\n')}\r\n`;
}

/** `Subject` (RFC 5322, section 3.6.5): unencoded if that is safe and can be folded, otherwise in encoded words. */
export function subjectHeader(given: string): string {
  refuseControls('Subject', given);
  // As in a name: only encoded words could keep them.
  const subject = withoutOuterSpaces(given);
  if (subject === '') return 'Subject:\r\n';
  const words = subject.split(SINGLE_SPACE);
  const isPlain =
    PLAIN_SUBJECT.test(subject) &&
    !subject.includes('=?') &&
    words.every((word) => word.length <= MAX_PLAIN_WORD);
  const tokens = isPlain ? words : encodedWords(subject, 'Subject: '.length);
  return `Subject:${folded(tokens, 'Subject:'.length)}\r\n`;
}

/** `Date` (RFC 5322, section 3.3), in UTC, to the second. */
export function dateHeader(date: Date): string {
  if (Number.isNaN(date.getTime())) throw new UncomposableMessage('the date is not a point in time');
  return `Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`;
}

/** `Message-ID` (RFC 5322, section 3.6.4) from `local@domain`. */
export function messageIdHeader(messageId: string): string {
  if (!ASCII_LOCAL.test(messageId)) {
    throw new UncomposableMessage('the message id is not of the form local@domain');
  }
  return `Message-ID: <${wireAddress(messageId)}>\r\n`;
}

/**
 * `List-Unsubscribe` (RFC 2369), and with an https URL `List-Unsubscribe-Post` (RFC 8058), which tells mail clients that one click is
 * enough. URLs are not folded, because a client that unfolds them incorrectly would get a broken link. The first is preferred.
 *
 * @param mailto a second one; undefined: none
 */
export function unsubscribeHeaders(url: string, mailto?: string): string {
  if (!HEADER_URL.test(url) || (mailto !== undefined && !HEADER_MAILTO.test(mailto)))
    throw new UncomposableMessage('the link to unsubscribe cannot stand in a header');
  const oneClick = url.startsWith('https:') ? 'List-Unsubscribe-Post: List-Unsubscribe=One-Click\r\n' : '';
  const byMail = mailto === undefined ? '' : `,\r\n <${mailto}>`;
  return `List-Unsubscribe: <${url}>${byMail}\r\n${oneClick}`;
}

/** `Feedback-ID`, of Gmail's feedback loop (https://support.google.com/mail/answer/6254652). */
export function feedbackIdHeader(feedbackId: string): string {
  if (!FEEDBACK_ID.test(feedbackId)) throw new UncomposableMessage('the feedback id is not of its form');
  return `Feedback-ID: ${feedbackId}\r\n`;
}
