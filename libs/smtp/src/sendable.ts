import { isAscii } from 'node:buffer';
import type { SmtpEnvelope } from './smtp-transport.ts';

const BARE_LINE_END = /\r(?!\n)|(?<!\r)\n/;

/** What could end the command, or the address within it; lone surrogates would leave as another character. */
const FORBIDDEN_IN_ADDRESS = /[\s\p{Cc}\p{Cs}<>]/u;

/** RFC 3461, section 4.4, allows 100 characters once they are encoded; these need no encoding. */
const ENVELOPE_ID = /^[A-Za-z0-9_.@-]{1,100}$/;

/**
 * The last check before an address becomes part of an SMTP command; whoever made the envelope has judged it before.
 *
 * @throws when an address is empty, has no `@`, or holds a control, a white space or an angle bracket; or when the id by which reports are to
 *   name the message is none
 */
export function assertSendableEnvelope(envelope: SmtpEnvelope): void {
  for (const name of ['from', 'to'] as const) {
    const address = envelope[name];
    if (!address.includes('@') || FORBIDDEN_IN_ADDRESS.test(address)) {
      // The address itself is not repeated: this text goes into logs.
      throw new Error(`the envelope's \`${name}\` is not an address that can be part of an SMTP command`);
    }
  }
  const { reports } = envelope;
  if (reports !== undefined && !ENVELOPE_ID.test(reports.envelopeId))
    throw new Error('the id of the envelope cannot be part of an SMTP command');
}

/**
 * Bytes that are signed must leave as they are, and a bare CR or LF would be rewritten on the way (RFC 5321, section
 * 2.3.8), which breaks the signature; some servers would even take it for the end of the message.
 *
 * @throws when a CR or LF stands alone, or the message does not end in CRLF
 */
export function assertSendableMessage(message: Buffer): void {
  // One byte is one character of latin1; a regular expression is several times faster than a loop over the bytes.
  const text = message.toString('latin1');
  const at = text.search(BARE_LINE_END);
  if (at >= 0) throw new Error(`the message has a bare CR or LF at byte ${at}`);
  if (!text.endsWith('\r\n')) throw new Error('the message does not end in CRLF');
}

const END_OF_HEADERS = '\r\n\r\n';

/** Whether the server must offer SMTPUTF8: an address of the envelope, or a header, is not ASCII (RFC 6531, section 3.4; RFC 6532). */
export function needsSmtpUtf8(envelope: SmtpEnvelope, message: Buffer): boolean {
  if (/[^\x00-\x7f]/.test(envelope.from + envelope.to)) return true;
  const end = message.indexOf(END_OF_HEADERS);
  return end >= 0 && !isAscii(message.subarray(0, end));
}
