import { quotedReply, type SmtpReply, type SmtpStage } from '@posthorn/domain';

/** A reply in the middle of a sentence: `host mx.example.net said: 550 …`, `Remote host said: 550 …`. */
const REPLY = /(?:^|: )([45]\d\d[ -].*)$/;
/** `(#5.1.1)`: qmail's way to write a status. */
const QMAIL_STATUS = /\(#([245]\.\d{1,3}\.\d{1,3})\)/;
/** Exim and qmail call it permanent when they have tried for long enough. */
const GAVE_UP =
  /retry time(out)? (exceeded|not reached)|failing for a long time|this message has been in the queue too long/i;
/** OpenSMTPD's last report about an email, which has `Action: delayed` like those before it. */
const OPENSMTPD_GAVE_UP = /^Envelope expired/;
const DELIVERY_TIME_EXPIRED = '4.4.7';
/** Postfix, Exim and qmail; the second half is about our return path, so not about the recipient either. */
const NOT_AT_RCPT =
  /in reply to (end of DATA|MAIL FROM) command|after ((pipelined )?(end of data|MAIL FROM)|I sent the message)|but sender was rejected/i;
const MAX_REASON_CHARACTERS = 2_000;

/** The lines of a text, without the white space around them. */
export function trimmedLines(text: string): string[] {
  return text.split('\n').map((line) => line.trim());
}

/**
 * What these lines of a returned mail say about an address, in one line. The address begins a line, in angle brackets or not; what follows, up to
 * an empty line, is said about it: `<ada@example.net>: …` (Postfix, qmail), `ada@example.net: …` (OpenSMTPD), or on lines of its own (Exim).
 */
export function reasonBeside(address: string, lines: readonly string[]): string | undefined {
  const first = lines.findIndex((line) => restAfter(address, line) !== undefined);
  if (first === -1) return undefined;
  const end = lines.indexOf('', first);
  const others = lines.slice(first + 1, end === -1 ? undefined : end);
  const reason = [restAfter(address, lines[first]!), ...others].join(' ').trim();
  return reason === '' ? undefined : reason.slice(0, MAX_REASON_CHARACTERS);
}

/** What a line says after the address that it begins with. */
function restAfter(address: string, line: string): string | undefined {
  const start = line.startsWith('<') ? 1 : 0;
  const end = start + address.length;
  if (line.slice(start, end).toLowerCase() !== address.toLowerCase()) return undefined;
  const rest = line.slice(end);
  return /^>?(:|\s|$)/.test(rest) ? rest.replace(/^>?:?\s*/, '') : undefined;
}

/** The reply that a reason quotes, or one that is derived from it and the status. */
export function replyInReason(reason: string, status: string | undefined): SmtpReply | undefined {
  const quoted = REPLY.exec(reason)?.[1];
  if (quoted !== undefined) return quotedReply(quoted, status);
  return quotedReply(
    reason,
    GAVE_UP.test(reason) ? DELIVERY_TIME_EXPIRED : (QMAIL_STATUS.exec(reason)?.[1] ?? status),
  );
}

/** Whether a server that reports a delay has in fact given up. */
export function isLastReport(reason: string | undefined): boolean {
  return reason !== undefined && OPENSMTPD_GAVE_UP.test(reason);
}

/** The stage at which the server replied; `rcpt` if the text does not say. */
export function stageInReason(reason: string | undefined): SmtpStage {
  return reason !== undefined && NOT_AT_RCPT.test(reason) ? 'content' : 'rcpt';
}
