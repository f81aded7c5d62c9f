import type { SmtpReply } from '../delivery.ts';
import { knownReply } from '../replies/known-replies.ts';
import { sanitizeText } from '../sanitize-text.ts';

/** `smtp; 550-5.1.1 …`: this type marks the reply of an SMTP server (RFC 3464, section 2.3.6). */
const TYPE_PREFIX = /^([\w.-]{1,40})[ \t]*;[ \t]*/;
const ENHANCED = String.raw`[245]\.\d{1,3}\.\d{1,3}`;
const LEADING_CODES = new RegExp(`^([245]\\d\\d)(?:[ -]|$)[ \\t]*(?:#?(${ENHANCED})(?=[ :;]|$))?`);
/** For a server that wraps the reply in text of its own: both codes together are unambiguous. */
const EMBEDDED_CODES = new RegExp(`\\b([45]\\d\\d)[ -](${ENHANCED})\\b`);
const STATUS = new RegExp(`^(${ENHANCED})\\b`);
/** Each line of a multi-line reply begins with the same code (RFC 5321, section 4.2.1); another number is part of the text. */
const REPEATED_CODES = new RegExp(`(?:^|\\s)([245]\\d\\d)[ -](?:#?${ENHANCED}(?=[ :;]|$))?[ \\t]*`, 'g');

/** The reply code for the class of a status where no reply is quoted: generic codes, so that the status decides. */
const DEFAULT_CODE_OF_CLASS: Readonly<Record<string, number>> = { '2': 250, '4': 450, '5': 554 };

/**
 * The SMTP reply quoted by a delivery status, or one derived from its status.
 *
 * @param diagnostic the value of `Diagnostic-Code`; without a type, it counts as the reply of an SMTP server
 * @param status the value of `Status` (RFC 3463)
 * @returns undefined when there is neither
 */
export function quotedReply(diagnostic = '', status = ''): SmtpReply | undefined {
  const statusCode = STATUS.exec(status)?.[1];
  const [typed = '', type = 'smtp'] = TYPE_PREFIX.exec(diagnostic) ?? [];
  const quoted = diagnostic.slice(typed.length);
  const [, code, enhanced] = (type.toLowerCase() === 'smtp' && findCodes(quoted)) || [];
  const replyCode = code === undefined ? DEFAULT_CODE_OF_CLASS[statusCode?.[0] ?? ''] : Number(code);
  if (replyCode === undefined) return undefined;
  const text = sanitizeText(quoted.replace(REPEATED_CODES, (all, each) => (each === code ? ' ' : all)));
  // Sendmail makes 5.1.1 of every 550 without an enhanced code, so its status must not outweigh "listed at" or "DMARC".
  const stated = code !== undefined && knownReply(text) !== undefined ? [enhanced] : [enhanced, statusCode];
  // The enhanced code must be of the same class as the reply code (RFC 2034, section 4).
  const enhancedCode = stated.find((each) => each?.[0] === String(replyCode)[0]);
  return enhancedCode === undefined ? { code: replyCode, text } : { code: replyCode, enhancedCode, text };
}

function findCodes(quoted: string): RegExpExecArray | null {
  return LEADING_CODES.exec(quoted) ?? EMBEDDED_CODES.exec(quoted);
}
