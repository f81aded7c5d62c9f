import { randomFillSync } from 'node:crypto';

declare const brand: unique symbol;

/** A TypeID: prefix, `_`, and 26 characters of base-32 UUIDv7 (https://github.com/jetify-com/typeid/tree/main/spec). */
export type Id<Prefix extends string> = `${Prefix}_${string}` & { readonly [brand]: Prefix };

export type WorkspaceId = Id<'wrk'>;
export type ApiKeyId = Id<'aki'>;
export type IdentityId = Id<'idn'>;
export type EmailId = Id<'trs'>;
export type TemplateId = Id<'tpl'>;
/** Of a version of a template; within, only: people see its number. */
export type TemplateVersionId = Id<'tpv'>;
export type ContactId = Id<'ctc'>;
export type WebhookId = Id<'wh'>;
export type EventId = Id<'evt'>;
export type UserId = Id<'usr'>;
export type InvitationId = Id<'inv'>;

/** The workspace that Posthorn's own mails leave from; a migration makes it. */
export const SYSTEM_WORKSPACE_ID = 'wrk_0000000000e008000000000000' as WorkspaceId;

/** Crockford's alphabet in lower case: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const VALUE_OF: Readonly<Record<string, number>> = Object.fromEntries(
  [...ALPHABET].map((character, value) => [character, value]),
);
/** After two characters for the first byte, four characters (20 bits) stand for five hexadecimal digits. */
const GROUPS = 6;
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const randomPool = Buffer.alloc(4096);
let randomUsed = randomPool.length;

/** Ten random bytes at a time out of a pool, because one call of the system's generator for each id costs more than the id. */
function takeRandom(target: Buffer, offset: number, length: number): void {
  if (randomUsed + length > randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  randomPool.copy(target, offset, randomUsed, randomUsed + length);
  randomUsed += length;
}

/**
 * A new UUIDv7 (RFC 9562, section 5.7).
 *
 * @param atMs the time that the id carries, in milliseconds since 1970; the database's time, so that ids made by
 *   different processes fall into the same partitions.
 */
export function newUuid(atMs: number): string {
  const bytes = Buffer.alloc(16);
  bytes.writeUIntBE(Math.trunc(atMs), 0, 6);
  takeRandom(bytes, 6, 10);
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return formatUuid(bytes.toString('hex'));
}

function formatUuid(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A new id that carries the given time (milliseconds since 1970). */
export function newId<Prefix extends string>(prefix: Prefix, atMs: number): Id<Prefix> {
  return idFromUuid(prefix, newUuid(atMs));
}

/** The id of a row whose native key is `uuid` (lower-case, with hyphens). */
export function idFromUuid<Prefix extends string>(prefix: Prefix, uuid: string): Id<Prefix> {
  const hex = uuid.replaceAll('-', '');
  let suffix = base32(Number.parseInt(hex.slice(0, 2), 16), 2);
  for (let group = 0; group < GROUPS; group += 1) {
    suffix += base32(Number.parseInt(hex.slice(2 + group * 5, 7 + group * 5), 16), 4);
  }
  return `${prefix}_${suffix}` as Id<Prefix>;
}

function base32(value: number, characters: number): string {
  let text = '';
  for (let shift = (characters - 1) * 5; shift >= 0; shift -= 5) text += ALPHABET[(value >> shift) & 31]!;
  return text;
}

/** The native key of a well-formed id. */
export function uuidOf(id: Id<string>): string {
  const suffix = id.slice(id.lastIndexOf('_') + 1);
  let hex = hexadecimal(suffix.slice(0, 2), 2);
  for (let group = 0; group < GROUPS; group += 1) {
    hex += hexadecimal(suffix.slice(2 + group * 4, 6 + group * 4), 5);
  }
  return formatUuid(hex);
}

function hexadecimal(characters: string, digits: number): string {
  let value = 0;
  for (const character of characters) value = (value << 5) | VALUE_OF[character]!;
  return value.toString(16).padStart(digits, '0');
}

/** The id in `text`, or undefined when it is not a well-formed id with this prefix. */
export function parseId<Prefix extends string>(prefix: Prefix, text: string): Id<Prefix> | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined;
  return SUFFIX.test(text.slice(prefix.length + 1)) ? (text as Id<Prefix>) : undefined;
}

/** Whether `text` is a UUID in the form in which Postgres prints it. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}

/** The time that a UUIDv7 or an id made of one carries, in milliseconds since 1970. */
export function timeOf(id: Id<string>): number {
  return Number.parseInt(uuidOf(id).replaceAll('-', '').slice(0, 12), 16);
}
