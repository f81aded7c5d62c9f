import { faultInVisibleText } from './invisible-characters.ts';

/** A file that is sent with an email. */
export interface Attachment {
  readonly filename: string;
  /** A media type, possibly with parameters (RFC 2045, section 5.1). */
  readonly contentType: string;
  /** The file in base64 (RFC 4648, section 4), in one line. */
  readonly content: string;
  /** By which the HTML refers to it, as in `<img src="cid:logo">` (RFC 2392); absent: it is only attached. */
  readonly contentId?: string | undefined;
}

/** The alphabet with its padding; a pattern that counts characters in fours would be slow for megabytes. */
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/;
const TOKEN = '[A-Za-z0-9!#$&^_.+-]{1,127}';
const MEDIA_TYPE = new RegExp(`^(${TOKEN})/${TOKEN}(; ?${TOKEN}=${TOKEN}){0,4}$`);
const CONTENT_ID = /^[A-Za-z0-9!#$&'*+/=?^_`{|}~.@-]+$/;
/** Such parts have parts or headers of their own, which base64 must not hide (RFC 2046, sections 5.1 and 5.2). */
const COMPOSITE = new Set(['multipart', 'message']);

/** The fault of a file name; undefined for one that every mail client can show and save. */
export function faultInFilename(name: string): string | undefined {
  if (name.trim() === '') return 'is empty; give at least 1 character';
  if (/[/\\]/.test(name)) return 'has a slash; give the name of the file without its folder';
  return faultInVisibleText(name);
}

/** The fault of a media type. */
export function faultInMediaType(type: string): string | undefined {
  const [, kind] = MEDIA_TYPE.exec(type) ?? [];
  if (kind === undefined)
    return 'is not a media type; give one as in `application/pdf` or `text/csv; charset=utf-8`, or leave it out';
  if (COMPOSITE.has(kind.toLowerCase()))
    return `must not be \`${kind.toLowerCase()}/…\`; give \`application/octet-stream\``;
  return undefined;
}

/** The fault of a content id. */
export function faultInContentId(id: string): string | undefined {
  return CONTENT_ID.test(id)
    ? undefined
    : 'has characters that it cannot have; use letters, digits, `.`, `_` and `-`, as in `logo`, and write `cid:logo` in the HTML';
}

/** The fault of a file in base64: only its canonical form is taken, so that the file can be sent as it was given. */
export function faultInBase64(content: string): string | undefined {
  if (content === '') return 'is empty; give the file in base64';
  if (content.startsWith('data:')) return 'is a `data:` URL; give only what follows its comma';
  if (/[\r\n]/.test(content)) return 'has line breaks; give base64 in one line';
  const isCanonical =
    content.length % 4 === 0 &&
    BASE64.test(content) &&
    Buffer.from(content.slice(-4), 'base64').toString('base64') === content.slice(-4);
  return isCanonical
    ? undefined
    : 'is not base64 (RFC 4648, section 4, with its padding); encode the bytes of the file';
}

/** The size of a file in bytes, from its canonical base64. */
export function sizeOfBase64(content: string): number {
  const padding = content.endsWith('==') ? 2 : content.endsWith('=') ? 1 : 0;
  return (content.length / 4) * 3 - padding;
}
