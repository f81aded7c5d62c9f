import {
  dateHeader,
  mailboxesHeader,
  messageIdHeader,
  subjectHeader,
  unsubscribeHeaders,
} from './headers.ts';
import type { Mailbox } from './mailboxes.ts';
import { encodeText, type EncodedText } from './transfer-encoding.ts';
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
}

const ID = /^[A-Za-z0-9_-]{1,60}$/;

/**
 * Composes the message that goes to the relay: headers and a `multipart/alternative` of text and HTML (RFC 5322,
 * RFC 2046 section 5.1.4). The same source gives the same bytes, so a message can be composed again for every attempt
 * and for every preview.
 *
 * All line breaks are CRLF, also those inside the parts (see {@link encodeText}); no line exceeds 998 octets. Bytes
 * beyond ASCII occur only in headers, and only in international local parts (RFC 6532), which take a relay that offers SMTPUTF8.
 *
 * @throws {@link UncomposableMessage} when a value could break out of its header
 */
export function composeMessage(source: MessageSource): Buffer {
  if (!ID.test(source.id)) throw new UncomposableMessage('the id cannot serve as a boundary');
  const boundary = `=_${source.id}`;
  const text = encodeText(source.text, boundary);
  const html = encodeText(source.html, boundary);
  return joined([
    `${headersOf(source, boundary)}\r\n${partHead('plain', text, boundary)}`,
    text,
    `\r\n${partHead('html', html, boundary)}`,
    html,
    `\r\n--${boundary}--\r\n`,
  ]);
}

function headersOf(source: MessageSource, boundary: string): string {
  return (
    mailboxesHeader('From', [source.from]) +
    mailboxesHeader('To', [source.to]) +
    (source.replyTo.length > 0 ? mailboxesHeader('Reply-To', source.replyTo) : '') +
    subjectHeader(source.subject) +
    dateHeader(source.date) +
    messageIdHeader(source.messageId) +
    (source.unsubscribeUrl === undefined ? '' : unsubscribeHeaders(source.unsubscribeUrl)) +
    'MIME-Version: 1.0\r\n' +
    `Content-Type: multipart/alternative;\r\n boundary="${boundary}"\r\n`
  );
}

function partHead(subtype: 'plain' | 'html', body: EncodedText, boundary: string): string {
  return (
    `--${boundary}\r\n` +
    `Content-Type: text/${subtype}; charset=utf-8\r\n` +
    `Content-Transfer-Encoding: ${body.encoding}\r\n\r\n`
  );
}

/** Sums the lengths first, so that the message is allocated once and written in place. */
function joined(pieces: readonly (string | EncodedText)[]): Buffer {
  let length = 0;
  for (const piece of pieces) length += typeof piece === 'string' ? Buffer.byteLength(piece) : piece.length;
  const message = Buffer.allocUnsafe(length);
  let offset = 0;
  for (const piece of pieces) {
    offset = typeof piece === 'string' ? offset + message.write(piece, offset) : piece.write(message, offset);
  }
  return message;
}
