import {
  quotedReply,
  sanitizeText,
  RECIPIENT_ACTIONS,
  type RecipientStatus,
  type ReturnedMail,
  type SmtpReply,
} from '@posthorn/domain';
import PostalMime, { type Attachment } from 'postal-mime';
import { type FieldBlock, readFieldBlocks } from './field-blocks.ts';
import { readPlainBounce } from './plain-bounce.ts';
import { isLastReport, reasonBeside, replyInReason, stageInReason, trimmedLines } from './stated-reason.ts';

/** Digests and gateways may wrap a report; nobody needs more levels than this. */
const MAX_NESTING_DEPTH = 8;
/** The worst case of this size, a list of groups in `To`, takes the parser 40 ms. */
const MAX_HEADER_BYTES = 32 * 1024;
/** The parser's time grows faster than the number of lines and parts: 260 KB of empty lines took it 8 s. */
const MAX_LINES = 5_000;
const MAX_DASHED_LINES = 300;
const MAX_WORD_CHARACTERS = 64;

const DELIVERY_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
const FEEDBACK_TYPE = 'message/feedback-report';
const MESSAGE_TYPE = 'message/rfc822';
/** A header that Outlook.com (JMRP) adds to emails that it returns without a feedback report because recipients have reported them. */
const REPORTED_AT_MICROSOFT = /^X-HmXmrOriginalRecipient:/im;
const END_OF_HEADERS = /\r?\n\r?\n/;

/** The action where a server gives only a status, by its class (RFC 3463, section 3.1). */
const ACTION_OF_STATUS_CLASS: Readonly<Record<string, RecipientStatus['action']>> = {
  '2': 'delivered',
  '4': 'delayed',
  '5': 'failed',
};

/**
 * Parses a returned mail: a delivery status notification (RFC 3464, RFC 6533), a feedback report (RFC 5965), a complaint of Outlook.com, or a
 * plain bounce of qmail or Exim. Never rejects.
 *
 * @param raw the mail, or its beginning: the report comes before the message that it is about
 */
export async function readReturnedMail(raw: Buffer): Promise<ReturnedMail> {
  const mail = await parse(raw).catch(() => undefined);
  if (mail === undefined) return { type: 'unrecognised', reason: 'unreadable' };
  const { parts, text } = mail;
  const feedback = parts.find(({ mimeType }) => mimeType === FEEDBACK_TYPE);
  if (feedback !== undefined) return readFeedback(feedback);
  const delivery = parts.find(({ mimeType }) => DELIVERY_TYPES.includes(mimeType));
  if (delivery !== undefined) return readDelivery(delivery, text);
  if (parts.some(isReportedAtMicrosoft)) return { type: 'feedback', feedbackType: 'abuse' };
  const statuses = readPlainBounce(text, mail.failedRecipients);
  return statuses.length === 0
    ? { type: 'unrecognised', reason: 'no_report' }
    : { type: 'delivery', statuses };
}

/** Its content is a text because of `attachmentEncoding`. */
type Part = Attachment & { readonly content: string };

interface ParsedMail {
  readonly parts: readonly Part[];
  /** The text for people. */
  readonly text: string;
  /** Of a header that Exim adds. */
  readonly failedRecipients: string | undefined;
}

async function parse(raw: Buffer): Promise<ParsedMail> {
  const { attachments, text, headers } = await PostalMime.parse(truncate(raw), {
    attachmentEncoding: 'utf8',
    maxNestingDepth: MAX_NESTING_DEPTH,
    maxHeadersSize: MAX_HEADER_BYTES,
    // The returned message itself is not parsed.
    maxRfc822NestingDepth: 0,
  });
  const failedRecipients = headers.find(({ key }) => key === 'x-failed-recipients')?.value;
  return { parts: attachments as Part[], text: text ?? '', failedRecipients };
}

/** Cuts the mail off where it has too many lines, or too many that could be a part's boundary. */
function truncate(raw: Buffer): Buffer {
  return raw.subarray(
    0,
    Math.min(indexOfNth(raw, '\n', MAX_LINES), indexOfNth(raw, '\n--', MAX_DASHED_LINES)),
  );
}

/** The index of the nth occurrence of a text; the mail's length where there is none. */
function indexOfNth(raw: Buffer, text: string, nth: number): number {
  let index = -1;
  for (let times = 0; times < nth; times += 1) {
    index = raw.indexOf(text, index + 1);
    if (index === -1) return raw.length;
  }
  return index;
}

function readFeedback(part: Part): ReturnedMail {
  const [fields] = readFieldBlocks(part.content);
  const feedbackType = firstWordOf(fields?.get('feedback-type'));
  if (feedbackType === undefined) return { type: 'unrecognised', reason: 'no_status' };
  return { type: 'feedback', feedbackType, ...reportedBy(fields?.get('user-agent')) };
}

function isReportedAtMicrosoft({ mimeType, content }: Part): boolean {
  return mimeType === MESSAGE_TYPE && REPORTED_AT_MICROSOFT.test(content.split(END_OF_HEADERS, 1)[0]!);
}

/** The first block is about the mail, each other one about a recipient; some servers omit the first. */
function readDelivery(part: Part, text: string): ReturnedMail {
  const blocks = readFieldBlocks(part.content);
  const lines = trimmedLines(text);
  const statuses = blocks
    .map((block) => recipientStatusOf(block, lines))
    .filter((status) => status !== undefined);
  if (statuses.length === 0) return { type: 'unrecognised', reason: 'no_status' };
  const server = blocks.map((block) => block.get('reporting-mta')).find((value) => value !== undefined);
  return { type: 'delivery', statuses, ...reportedBy(withoutType(server)) };
}

function recipientStatusOf(block: FieldBlock, lines: readonly string[]): RecipientStatus | undefined {
  const status = block.get('status');
  const named = firstWordOf(block.get('action'));
  const action =
    RECIPIENT_ACTIONS.find((each) => each === named) ?? ACTION_OF_STATUS_CLASS[status?.[0] ?? ''];
  if (action === undefined || (named !== undefined && named !== action)) return undefined;
  const recipients = ['original-recipient', 'final-recipient']
    .map((name) => addressOf(block.get(name)))
    .filter((address) => address !== undefined);
  const reason = recipients.map((address) => reasonBeside(address, lines)).find((each) => each !== undefined);
  return {
    action: action === 'delayed' && isLastReport(reason) ? 'failed' : action,
    recipients,
    reply: replyOf(block, reason) ?? { code: DEFAULT_CODE_OF_ACTION[action], text: '' },
    stage: stageInReason(reason),
  };
}

/**
 * The reply of the receiving server. OpenSMTPD never names it in a field, Exim only that of a remote server: then the text says why, or the
 * comment of the status.
 */
function replyOf(block: FieldBlock, reason: string | undefined): SmtpReply | undefined {
  const diagnostic = block.get('diagnostic-code');
  const status = block.get('status');
  if (diagnostic === undefined && reason !== undefined) return replyInReason(reason, status);
  return quotedReply(diagnostic ?? commentIn(status), status);
}

/** The comment of a value: `5.1.2 (550 Tried all MXs example.net)` is where Haraka says why. */
function commentIn(value: string | undefined): string | undefined {
  return /^[^(]*\((.{1,1000})\)$/.exec(value ?? '')?.[1];
}

/** For reports with neither a status nor a reply, though RFC 3464 requires a status. */
const DEFAULT_CODE_OF_ACTION: Readonly<Record<RecipientStatus['action'], number>> = {
  failed: 554,
  delayed: 450,
  delivered: 250,
  relayed: 250,
  expanded: 250,
};

/** The address of a value such as `rfc822; <ada@example.net>`. */
function addressOf(value: string | undefined): string | undefined {
  const address = /^<?([^<>\s]{1,320})>?/.exec(withoutType(value) ?? '')?.[1];
  return address?.includes('@') ? address.replaceAll(UNICODE_IN_ASCII, decodedCharacter) : undefined;
}

/** `\x{EB}`, as a report of ASCII writes the `ë` of an address (RFC 6533, section 3). */
const UNICODE_IN_ASCII = /\\x\{([0-9A-F]{2,5}|10[0-9A-F]{4})\}/gi;

function decodedCharacter(_escape: string, hex: string): string {
  return String.fromCodePoint(Number.parseInt(hex, 16));
}

function withoutType(value: string | undefined): string | undefined {
  return value?.replace(/^[\w.-]{1,40}[ \t]*;[ \t]*/, '');
}

/** The first word of a value, before a comment or a parameter. */
function firstWordOf(value: string | undefined): string | undefined {
  return /^[a-z0-9-]+/i
    .exec(value ?? '')?.[0]
    .toLowerCase()
    .slice(0, MAX_WORD_CHARACTERS);
}

function reportedBy(value: string | undefined): { reportedBy?: string } {
  const bounded = sanitizeText(value ?? '');
  return bounded === '' ? {} : { reportedBy: bounded };
}
