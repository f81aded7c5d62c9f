import PostalMime, { type Email } from 'postal-mime';
import type { SinkMessage } from '@posthorn/testing';

/** Parses a message with a third-party parser. */
export function parseMail({ raw }: SinkMessage): Promise<Email> {
  return PostalMime.parse(raw);
}

/** A decoded part with LF line breaks, without the last one: the parser wrongly counts the line break before the boundary as content (RFC 2046). */
export function decoded(part: string | undefined): string {
  return withLf(part ?? '').replace(/\n$/, '');
}

/** A text with every line break as LF. */
export function withLf(text: string): string {
  return text.replace(/\r\n?/g, '\n');
}

/** The undecoded values of a header, unfolded. */
export function headerValues({ raw }: SinkMessage, name: string): string[] {
  const head = raw.toString('utf8').split('\r\n\r\n', 1)[0]!;
  const lines = head.replace(/\r\n[ \t]/g, ' ').split('\r\n');
  const prefix = `${name.toLowerCase()}:`;
  return lines
    .filter((line) => line.toLowerCase().startsWith(prefix))
    .map((line) => line.slice(prefix.length).trim());
}
