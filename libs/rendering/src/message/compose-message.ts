import { attachmentHead, type MessageAttachment } from './attachment-part.ts';
import {
  dateHeader,
  mailboxesHeader,
  messageIdHeader,
  subjectHeader,
  unsubscribeHeaders,
} from './headers.ts';
import type { Mailbox } from './mailboxes.ts';
import { encodeText, type EncodedContent, inBase64 } from './transfer-encoding.ts';
import { UncomposableMessage } from './uncomposable-message.ts';

/** The content of a message. */
export interface MessageSource {
  /** The email's id; the boundary between the parts is derived from it. Letters, digits, `_` and `-`, at most 60. */
  readonly id: string;
  /** `local@domain`, without angle brackets; the local part is ASCII, an international domain becomes punycode. */
  readonly messageId: string;
  /** Written to the second, in UTC. */
  readonly date: Date;
  readonly from: Mailbox;
  readonly to: Mailbox;
  /** Empty: no `Reply-To`. */
  readonly replyTo: readonly Mailbox[];
  /** The unsubscribe link (RFC 2369, RFC 8058); absent: none. */
  readonly unsubscribeUrl?: string | undefined;
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  /** Absent: none. */
  readonly attachments?: readonly MessageAttachment[] | undefined;
}

/** A whole message, or a part of one. */
interface Entity {
  /** The header fields that describe its content. */
  readonly head: string;
  /** What follows the empty line. */
  readonly body: readonly (string | EncodedContent)[];
}

const ID = /^[A-Za-z0-9_-]{1,60}$/;

/**
 * Composes the message that goes to the relay: headers, and a `multipart/alternative` of text and HTML (RFC 5322,
 * RFC 2046 section 5.1.4). Files that the HTML refers to are beside it in a `multipart/related` (RFC 2387), all others follow in a
 * `multipart/mixed`. The same source gives the same bytes, so a message can be composed again for every attempt and for every preview.
 *
 * All line breaks are CRLF, also those inside the parts (see {@link encodeText}); no line exceeds 998 octets. Bytes
 * beyond ASCII occur only in headers, and only in international local parts (RFC 6532), which take a relay that offers SMTPUTF8.
 *
 * @throws {@link UncomposableMessage} when a value could break out of its header
 */
export function composeMessage(source: MessageSource): Buffer {
  if (!ID.test(source.id)) throw new UncomposableMessage('the id cannot serve as a boundary');
  const { head, body } = contentOf(source);
  return joined([`${headersOf(source)}${head}\r\n`, ...body]);
}

function headersOf(source: MessageSource): string {
  return (
    mailboxesHeader('From', [source.from]) +
    mailboxesHeader('To', [source.to]) +
    (source.replyTo.length > 0 ? mailboxesHeader('Reply-To', source.replyTo) : '') +
    subjectHeader(source.subject) +
    dateHeader(source.date) +
    messageIdHeader(source.messageId) +
    (source.unsubscribeUrl === undefined ? '' : unsubscribeHeaders(source.unsubscribeUrl)) +
    'MIME-Version: 1.0\r\n'
  );
}

function contentOf({ id, html, text, attachments = [] }: MessageSource): Entity {
  // None begins with another one, because parsers may compare only as much as the boundary has.
  const boundaries = { alternative: `=_${id}`, related: `=_related_${id}`, mixed: `=_mixed_${id}` };
  const all = attachments.length === 0 ? [boundaries.alternative] : Object.values(boundaries);
  const inline = attachments.filter(({ contentId }) => contentId !== undefined);
  const attached = attachments.filter(({ contentId }) => contentId === undefined);
  const page = textPart('html', encodeText(html, all));
  const shown =
    inline.length === 0
      ? page
      : multipart('related', boundaries.related, [page, ...inline.map(filePart)], ' type="text/html";\r\n');
  const content = multipart('alternative', boundaries.alternative, [
    textPart('plain', encodeText(text, all)),
    shown,
  ]);
  if (attached.length === 0) return content;
  return multipart('mixed', boundaries.mixed, [content, ...attached.map(filePart)]);
}

/** Several parts (RFC 2046, section 5.1). @param parameters further ones, each with its line */
function multipart(
  subtype: 'alternative' | 'related' | 'mixed',
  boundary: string,
  parts: readonly Entity[],
  parameters = '',
): Entity {
  const head = `Content-Type: multipart/${subtype};\r\n${parameters} boundary="${boundary}"\r\n`;
  const body = parts.flatMap((part, index) => [
    `${index === 0 ? '' : '\r\n'}--${boundary}\r\n${part.head}\r\n`,
    ...part.body,
  ]);
  return { head, body: [...body, `\r\n--${boundary}--\r\n`] };
}

function textPart(subtype: 'plain' | 'html', content: EncodedContent): Entity {
  const head =
    `Content-Type: text/${subtype}; charset=utf-8\r\n` + `Content-Transfer-Encoding: ${content.encoding}\r\n`;
  return { head, body: [content] };
}

function filePart(attachment: MessageAttachment): Entity {
  return { head: attachmentHead(attachment), body: [inBase64(attachment.content)] };
}

/** Sums the lengths first, so that the message is allocated once and written in place. */
function joined(pieces: readonly (string | EncodedContent)[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  const message = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const piece of pieces) {
    offset = typeof piece === 'string' ? offset + message.write(piece, offset) : piece.write(message, offset);
  }
  return message;
}
