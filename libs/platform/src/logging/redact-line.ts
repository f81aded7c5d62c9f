import { SECRET_PREFIXES } from '@posthorn/signing';

const MASK = '***';
const PREFIXES: readonly string[] = Object.values(SECRET_PREFIXES);
// Whatever precedes them: what is escaped ends with a letter or a digit, such as `\n` or `%2F`.
const SECRETS = new RegExp(`(${PREFIXES.join('|')})[A-Za-z0-9_-]+`, 'g');
const BEARER = /(bearer|basic)\s+[A-Za-z0-9._~+/=-]+/gi;
// Greedy up to the last `@` before a slash: a password may hold an `@` itself.
const URL_CREDENTIALS = /:\/\/[^\s"\\/?#]+@/g;
/** Also percent-encoded, and twice, as some programs write it into a path. */
const AT = /@|%(?:25)*40/g;
const LOCAL_PART = /[^\s"\\<>()[\],:;@&?=]/;
// 64 octets by RFC 5321, but each may be percent-encoded, and a longer one is no reason to show it.
const MAX_LOCAL_PART_CHARS = 256;

/**
 * Masks, in one line of serialised JSON, what must not be logged wherever it stands: keys and tokens, credentials in
 * URLs, the local parts of email addresses. The line stays valid JSON.
 */
export function redactLine(line: string): string {
  let redacted = line;
  if (PREFIXES.some((prefix) => line.includes(prefix))) redacted = redacted.replace(SECRETS, `$1${MASK}`);
  if (/bearer|basic/i.test(line)) redacted = redacted.replace(BEARER, `$1 ${MASK}`);
  if (!line.includes('@') && !line.includes('%')) return redacted;
  return maskLocalParts(redacted.replace(URL_CREDENTIALS, '://[credentials]@'));
}

function maskLocalParts(line: string): string {
  let masked = '';
  let copied = 0;
  for (const { index } of line.matchAll(AT)) {
    const start = startOfLocalPart(line, index, copied);
    // `@` after a slash is a package name in a stack trace.
    if (start === index || line[index - 1] === '/') continue;
    masked += line.slice(copied, start) + MASK;
    copied = index;
  }
  return masked + line.slice(copied);
}

function startOfLocalPart(line: string, end: number, min: number): number {
  const floor = Math.max(min, end - MAX_LOCAL_PART_CHARS);
  if (line[end - 1] === '"') return startOfQuoted(line, end, floor);
  let start = end;
  while (start > floor && LOCAL_PART.test(line[start - 1] ?? '')) start--;
  return Math.min(end, start + escapedChars(line, start));
}

/** `"john doe"@example.com`, whose quotes are escaped in JSON; a quote without a backslash begins or ends a text of the line. */
function startOfQuoted(line: string, end: number, min: number): number {
  for (let quote = end - 1; quote > min; quote = line.lastIndexOf('"', quote - 1)) {
    const backslashes = backslashesBefore(line, quote);
    if (backslashes % 2 === 0) return end;
    // After three of them, it is a quote within the quoted local part.
    if (backslashes === 1 && quote < end - 1) return quote - 1;
  }
  return end;
}

/** How many characters from `start` on belong to an escape sequence that a backslash before it begins, and must stay. */
function escapedChars(line: string, start: number): number {
  if (backslashesBefore(line, start) % 2 === 0) return 0;
  return line[start] === 'u' ? 5 : 1;
}

function backslashesBefore(line: string, at: number): number {
  let count = 0;
  while (line[at - 1 - count] === '\\') count++;
  return count;
}
