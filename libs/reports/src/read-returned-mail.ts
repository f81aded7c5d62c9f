import { boundText, RECIPIENT_ACTIONS, type RecipientStatus, type ReturnedMail } from '@posthorn/domain';
import PostalMime, { type Attachment } from 'postal-mime';
import { type FieldBlock, readFieldBlocks } from './field-blocks.ts';
import { quotedReply } from './quoted-reply.ts';

/** A report is at most this deep: a digest or a gateway may wrap it, nobody needs more. */
const MAX_LEVELS = 8;
/** Of so many the worst, a list of groups in `To`, takes the parser 40 ms. */
const MAX_HEADER_BYTES = 32 * 1024;
/** What a line and a part cost the parser grows with how many there were before: 260 KB of empty lines took it 8 s. */
const MAX_LINES = 5_000;
const MAX_DASHED_LINES = 300;
const MAX_WORD_CHARACTERS = 64;

const DELIVERY_TYPES = ['message/delivery-status', 'message/global-delivery-status'];
const FEEDBACK_TYPE = 'message/feedback-report';

/** What an action is where a server gives a status alone (RFC 3463, section 3.1). */
const ACTION_OF_CLASS: Readonly<Record<string, RecipientStatus['action']>> = {
  '2': 'delivered',
  '4': 'delayed',
  '5': 'failed',
};

/**
 * Reads what a mail that came back says: a delivery status notification (RFC 3464, RFC 6533) or a feedback report (RFC 5965).
 * Whatever it is, there is an answer.
 *
 * @param raw the mail, or its beginning: what is said stands before the message that it is about
 */
export async function readReturnedMail(raw: Buffer): Promise<ReturnedMail> {
  const parts = await partsOf(raw).catch(() => undefined);
  if (parts === undefined) return { type: 'unrecognised', reason: 'unreadable' };
  const feedback = parts.find(({ mimeType }) => mimeType === FEEDBACK_TYPE);
  if (feedback !== undefined) return readFeedback(feedback);
  const delivery = parts.find(({ mimeType }) => DELIVERY_TYPES.includes(mimeType));
  return delivery === undefined ? { type: 'unrecognised', reason: 'no_report' } : readDelivery(delivery);
}

/** With its content as the text that `attachmentEncoding` asks for. */
type Part = Attachment & { readonly content: string };

async function partsOf(raw: Buffer): Promise<Part[]> {
  const { attachments } = await PostalMime.parse(firstParts(raw), {
    attachmentEncoding: 'utf8',
    maxNestingDepth: MAX_LEVELS,
    maxHeadersSize: MAX_HEADER_BYTES,
    // The message that it is about is evidence and not read.
    maxRfc822NestingDepth: 0,
  });
  return attachments as Part[];
}

/** The mail up to where it has too many lines, or too many that could begin a part. */
function firstParts(raw: Buffer): Buffer {
  return raw.subarray(0, Math.min(placeOf(raw, '\n', MAX_LINES), placeOf(raw, '\n--', MAX_DASHED_LINES)));
}

/** Where a text stands for the nth time; the end where it does not. */
function placeOf(raw: Buffer, text: string, nth: number): number {
  let at = -1;
  for (let times = 0; times < nth; times += 1) {
    at = raw.indexOf(text, at + 1);
    if (at === -1) return raw.length;
  }
  return at;
}

function readFeedback(part: Part): ReturnedMail {
  const [fields] = readFieldBlocks(part.content);
  const feedbackType = wordIn(fields?.get('feedback-type'));
  if (feedbackType === undefined) return { type: 'unrecognised', reason: 'no_status' };
  return { type: 'feedback', feedbackType, ...reportedBy(fields?.get('user-agent')) };
}

/** The first group is about the mail, each other one about a recipient; some servers leave the first one out. */
function readDelivery(part: Part): ReturnedMail {
  const blocks = readFieldBlocks(part.content);
  const statuses = blocks.map(statusIn).filter((status) => status !== undefined);
  if (statuses.length === 0) return { type: 'unrecognised', reason: 'no_status' };
  const server = blocks.map((block) => block.get('reporting-mta')).find((value) => value !== undefined);
  return { type: 'delivery', statuses, ...reportedBy(afterType(server)) };
}

function statusIn(block: FieldBlock): RecipientStatus | undefined {
  const status = block.get('status');
  const named = wordIn(block.get('action'));
  const action = RECIPIENT_ACTIONS.find((each) => each === named) ?? ACTION_OF_CLASS[status?.[0] ?? ''];
  const reply = quotedReply(block.get('diagnostic-code'), status);
  if (action === undefined || (named !== undefined && named !== action)) return undefined;
  const recipients = ['original-recipient', 'final-recipient']
    .map((name) => addressIn(block.get(name)))
    .filter((address) => address !== undefined);
  return { action, recipients, reply: reply ?? { code: CODE_OF_ACTION[action], text: '' } };
}

/** Where neither a status nor a reply is given, though RFC 3464 asks for a status. */
const CODE_OF_ACTION: Readonly<Record<RecipientStatus['action'], number>> = {
  failed: 554,
  delayed: 450,
  delivered: 250,
  relayed: 250,
  expanded: 250,
};

/** `rfc822; <ada@example.net>`: the address without its type. */
function addressIn(value: string | undefined): string | undefined {
  const address = /^<?([^<>\s]{1,320})>?/.exec(afterType(value) ?? '')?.[1];
  return address?.includes('@') ? address : undefined;
}

function afterType(value: string | undefined): string | undefined {
  return value?.replace(/^[\w.-]{1,40}[ \t]*;[ \t]*/, '');
}

/** The word that a value begins with, before a comment or a parameter. */
function wordIn(value: string | undefined): string | undefined {
  return /^[a-z0-9-]+/i
    .exec(value ?? '')?.[0]
    .toLowerCase()
    .slice(0, MAX_WORD_CHARACTERS);
}

function reportedBy(value: string | undefined): { reportedBy?: string } {
  const bounded = boundText(value ?? '');
  return bounded === '' ? {} : { reportedBy: bounded };
}
