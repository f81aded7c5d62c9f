import { boundText, type SmtpReply } from '@posthorn/domain';
import type { RelayAddress } from './relay-url.ts';

/** Beyond this nothing of a reply is looked at. */
const MAX_RAW_CHARACTERS = 8 * 1024;
const CODE = /^([2-5]\d\d)(?=[ -]|\n|$)/;
const ENHANCED_CODE = /^([245]\.\d{1,3}\.\d{1,3})(?=\s|$)/;

/** Takes the secrets out of a text. */
export type Redaction = (text: string) => string;

/**
 * Judges a reply (RFC 5321, section 4.2).
 *
 * @param raw its lines, with the code in front of each, joined by LF
 * @returns nothing for what is no reply: a code outside of 200–599, a fragment, or lines of which one says yes and another no
 */
export function readReply(raw: string, redact: Redaction): SmtpReply | undefined {
  const code = CODE.exec(raw)?.[1];
  if (code === undefined || contradictsItself(raw)) return undefined;
  const lines = raw
    .slice(0, MAX_RAW_CHARACTERS)
    .split('\n')
    .map((line) => line.replace(/^\d{3}[ -]?/, ''));
  const enhancedCode = ENHANCED_CODE.exec(lines[0] ?? '')?.[1];
  const text = boundText(redact(lines.map((line) => line.replace(ENHANCED_CODE, '').trim()).join(' ')));
  // An enhanced code of another class than the code's contradicts it (RFC 2034, section 4).
  return enhancedCode?.[0] === code[0]
    ? { code: Number(code), enhancedCode: enhancedCode!, text }
    : { code: Number(code), text };
}

/** Whether the last line, by which some go, is of another class than the first one, by which others go; all lines are to have one code. */
function contradictsItself(raw: string): boolean {
  const last = CODE.exec(raw.slice(raw.lastIndexOf('\n') + 1))?.[1];
  return last !== undefined && last[0] !== raw[0];
}

/** What a text must not repeat: user and password, in each form that they have on their way to the relay. */
export function redactionOf(credentials: RelayAddress['credentials']): Redaction {
  if (credentials === undefined) return (text) => text;
  const { user, password } = credentials;
  const base64 = (text: string): string => Buffer.from(text, 'utf8').toString('base64');
  const secrets = [`\0${user}\0${password}`, password, user]
    .flatMap((secret) => [secret, encodeURIComponent(secret), base64(secret)])
    // A secret of one or two characters is none, and taking it out would leave no text.
    .filter((secret) => secret.length > 2);
  return (text) => secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '***'), text);
}
