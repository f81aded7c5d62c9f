import { sanitizeText, RECIPIENT_ACTIONS, type RecipientStatus, type ReturnedMail } from '@posthorn/domain';
import PostalMime, { type Attachment } from 'postal-mime';
import { type FieldBlock, readFieldBlocks } from './field-blocks.ts';
import { quotedReply } from './quoted-reply.ts';

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

/** The action where a server gives only a status, by its class (RFC 3463, section 3.1). */
const ACTION_OF_STATUS_CLASS: Readonly<Record<string, RecipientStatus['action']>> = {
  '2': 'delivered',
  '4': 'delayed',
  '5': 'failed',
};

/**
 * Parses a returned mail: a delivery status notification (RFC 3464, RFC 6533) or a feedback report (RFC 5965). Never rejects.
 *
 * @param raw the mail, or its beginning: the report comes before the message that it is about
 */
export async function readReturnedMail(raw: Buffer): Promise<ReturnedMail> {
  const parts = await parseParts(raw).catch(() => undefined);
  if (parts === undefined) return { type: 'unrecognised', reason: 'unreadable' };
  const feedback = parts.find(({ mimeType }) => mimeType === FEEDBACK_TYPE);
  if (feedback !== undefined) return readFeedback(feedback);
  const delivery = parts.find(({ mimeType }) => DELIVERY_TYPES.includes(mimeType));
  return delivery === undefined ? { type: 'unrecognised', reason: 'no_report' } : readDelivery(delivery);
}

/** Its content is a text because of `attachmentEncoding`. */
type Part = Attachment & { readonly content: string };

async function parseParts(raw: Buffer): Promise<Part[]> {
  const { attachments } = await PostalMime.parse(truncate(raw), {
    attachmentEncoding: 'utf8',
    maxNestingDepth: MAX_NESTING_DEPTH,
    maxHeadersSize: MAX_HEADER_BYTES,
    // The returned message itself is not parsed.
    maxRfc822NestingDepth: 0,
  });
  return attachments as Part[];
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

/** The first block is about the mail, each other one about a recipient; some servers omit the first. */
function readDelivery(part: Part): ReturnedMail {
  const blocks = readFieldBlocks(part.content);
  const statuses = blocks.map(recipientStatusOf).filter((status) => status !== undefined);
  if (statuses.length === 0) return { type: 'unrecognised', reason: 'no_status' };
  const server = blocks.map((block) => block.get('reporting-mta')).find((value) => value !== undefined);
  return { type: 'delivery', statuses, ...reportedBy(withoutType(server)) };
}

function recipientStatusOf(block: FieldBlock): RecipientStatus | undefined {
  const status = block.get('status');
  const named = firstWordOf(block.get('action'));
  const action =
    RECIPIENT_ACTIONS.find((each) => each === named) ?? ACTION_OF_STATUS_CLASS[status?.[0] ?? ''];
  const reply = quotedReply(block.get('diagnostic-code'), status);
  if (action === undefined || (named !== undefined && named !== action)) return undefined;
  const recipients = ['original-recipient', 'final-recipient']
    .map((name) => addressOf(block.get(name)))
    .filter((address) => address !== undefined);
  return { action, recipients, reply: reply ?? { code: DEFAULT_CODE_OF_ACTION[action], text: '' } };
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
  return address?.includes('@') ? address : undefined;
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
