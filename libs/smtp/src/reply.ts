import { sanitizeText, type SmtpReply } from '@posthorn/domain';
import { type Login, secretsOf } from './login.ts';

const CODE = /^([2-5]\d\d)(?=[ -]|\n|$)/;
const ENHANCED_CODE = /^([245]\.\d{1,3}\.\d{1,3})(?=\s|$)/;

/** Removes secrets from a text. */
export type Redaction = (text: string) => string;

/**
 * Parses a reply (RFC 5321, section 4.2).
 *
 * @param raw its lines, each with its code, joined by LF
 * @returns undefined for an invalid reply: a code outside of 200–599, a fragment, or lines with codes of different classes
 */
export function readReply(raw: string, redact: Redaction): SmtpReply | undefined {
  const code = CODE.exec(raw)?.[1];
  if (code === undefined || contradictsItself(raw)) return undefined;
  const lines = raw.split('\n').map((line) => line.replace(/^\d{3}[ -]?/, ''));
  const enhancedCode = ENHANCED_CODE.exec(lines[0] ?? '')?.[1];
  const text = sanitizeText(redact(lines.map((line) => line.replace(ENHANCED_CODE, '')).join(' ')));
  // An enhanced code must have the same class as the code (RFC 2034, section 4); otherwise it is ignored.
  return enhancedCode?.[0] === code[0]
    ? { code: Number(code), enhancedCode: enhancedCode!, text }
    : { code: Number(code), text };
}

/** Whether the first and the last line have codes of different classes. All lines must have the same code; implementations differ in which line they use. */
function contradictsItself(raw: string): boolean {
  const last = CODE.exec(raw.slice(raw.lastIndexOf('\n') + 1))?.[1];
  return last !== undefined && last[0] !== raw[0];
}

/** Redacts a login, in every encoding in which it is sent to the relay. */
export function redactionOf(login: Login | undefined): Redaction {
  if (login === undefined) return (text) => text;
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const secrets = secretsOf(login)
    .flatMap((secret) => [secret, encodeURIComponent(secret), base64(secret)])
    // Redacting a secret of one or two characters would destroy the text.
    .filter((secret) => secret.length > 2);
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text);
}
