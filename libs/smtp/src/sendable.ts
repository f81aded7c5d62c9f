import { isAscii } from 'node:buffer';
import type { SmtpEnvelope } from './relays/smtp-envelope.ts';

const BARE_LINE_END = /\r(?!\n)|(?<!\r)\n/;

/** Characters that could end the command or the address; lone surrogates would be sent as other characters. */
const FORBIDDEN_IN_ADDRESS = /[\s\p{Cc}\p{Cs}<>]/u;

/** Characters that need no xtext encoding; at most 100 (RFC 3461, section 4.4). */
const ENVELOPE_ID = /^[A-Za-z0-9_.@-]{1,100}$/;

/**
 * A last check before addresses become part of SMTP commands; they have been validated before.
 *
 * @throws when an address is empty, has no `@`, or contains a control character, white space or angle bracket; or when the envelope id for reports is invalid
 */
export function assertSendableEnvelope(envelope: SmtpEnvelope): void {
  for (const name of ['from', 'to'] as const) {
    const address = envelope[name];
    if (!address.includes('@') || FORBIDDEN_IN_ADDRESS.test(address)) {
      // Without the address, because this text is logged.
      throw new Error(`the envelope's \`${name}\` is not an address that can be part of an SMTP command`);
    }
  }
  const { reports } = envelope;
  if (reports !== undefined && !ENVELOPE_ID.test(reports.envelopeId))
    throw new Error('the id of the envelope cannot be part of an SMTP command');
}

/**
 * A bare CR or LF would be rewritten on the way (RFC 5321, section 2.3.8), which breaks the signature, and allows SMTP smuggling on some servers.
 *
 * @throws when the message contains a bare CR or LF, or does not end in CRLF
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
