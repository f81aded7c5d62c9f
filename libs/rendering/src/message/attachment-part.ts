import { refuseControls, UncomposableMessage } from './uncomposable-message.ts';

/** A file that is sent with a message. */
export interface MessageAttachment {
  readonly filename: string;
  /** A media type, possibly with parameters. */
  readonly contentType: string;
  /** In base64, in one line. */
  readonly content: string;
  /** By which the HTML refers to it (RFC 2392); absent: it is only attached. */
  readonly contentId?: string | undefined;
}

/** As in {@link folded} of headers.ts: RFC 5322 asks for at most 78 characters. */
const FOLD_AT = 76;
const HEADER_TOKENS = /^[\x21-\x7e]+$/;
const MEDIA_TYPE = /^[\x21-\x7e]+(?:; ?[\x21-\x3a\x3c-\x7e]+)*$/;
/** A name that is written as a quoted string, and that no parser reads differently. */
const PLAIN_NAME = /^(?!.*=\?)[\x20\x21\x23-\x5b\x5d-\x7e]{1,60}$/;
/** Characters that need no encoding in an extended parameter (RFC 2231, section 7). */
const LITERAL = /^[A-Za-z0-9!#$&+.^_`|~-]$/;

/** The header of a part with a file; empty line excluded. @throws {@link UncomposableMessage} when a value could break out of it */
export function attachmentHead({ filename, contentType, contentId }: MessageAttachment): string {
  refuseControls('a file name', filename);
  if (!MEDIA_TYPE.test(contentType)) throw new UncomposableMessage('a media type cannot stand in a header');
  return (
    `Content-Type: ${contentType.replaceAll(/; ?/g, ';\r\n ')}\r\n` +
    'Content-Transfer-Encoding: base64\r\n' +
    `Content-Disposition: ${contentId === undefined ? 'attachment' : 'inline'};\r\n${filenameParameter(filename)}\r\n` +
    (contentId === undefined ? '' : contentIdHeader(contentId))
  );
}

/** `Content-ID` (RFC 2045, section 7), also for an id without a domain, which mail clients take. */
function contentIdHeader(contentId: string): string {
  if (!HEADER_TOKENS.test(contentId) || /[<>]/.test(contentId))
    throw new UncomposableMessage('a content id cannot stand in a header');
  return `Content-ID: <${contentId}>\r\n`;
}

/** The parameter `filename` (RFC 2183, section 2.3), in the lines of an extended one (RFC 2231) where a quoted string cannot hold it. */
function filenameParameter(filename: string): string {
  if (PLAIN_NAME.test(filename)) return ` filename="${filename}"`;
  const lines = extendedLines(filename);
  if (lines.length === 1) return ` filename*=${lines[0]}`;
  return lines.map((line, index) => ` filename*${index}*=${line}`).join(';\r\n');
}

function extendedLines(filename: string): string[] {
  const lines: string[] = [];
  let line = "UTF-8''";
  for (const byte of Buffer.from(filename, 'utf8')) {
    const character = String.fromCharCode(byte);
    const encoded = LITERAL.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
    if (` filename*${lines.length}*=;`.length + line.length + encoded.length > FOLD_AT) {
      lines.push(line);
      line = '';
    }
    line += encoded;
  }
  return [...lines, line];
}
