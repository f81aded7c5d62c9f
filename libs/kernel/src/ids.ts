import { randomFillSync } from 'node:crypto';

declare const brand: unique symbol;

/** A TypeID: prefix, `_`, and 26 characters of base-32 UUIDv7 (https://github.com/jetify-com/typeid/tree/main/spec). */
export type Id<Prefix extends string> = `${Prefix}_${string}` & { readonly [brand]: Prefix };

export type WorkspaceId = Id<'wrk'>;
export type ApiKeyId = Id<'aki'>;
export type IdentityId = Id<'idn'>;
export type EmailId = Id<'trs'>;
export type TemplateId = Id<'tpl'>;
/** Of a version of a template. Internal: people see the number of the version. */
export type TemplateVersionId = Id<'tpv'>;
export type ContactId = Id<'ctc'>;
export type SuppressionId = Id<'sup'>;
export type WebhookId = Id<'wh'>;
export type EventId = Id<'evt'>;
/** Of one event to one webhook. */
export type DeliveryId = Id<'dlv'>;
/** Of failed deliveries that are sent again. */
export type RecoveryId = Id<'rcv'>;
/** Of what a workspace has about a person. */
export type ErasureId = Id<'ers'>;
export type UserId = Id<'usr'>;
/** Of a person's membership of a workspace. Internal: it says where a page of members begins. */
export type MembershipId = Id<'mbr'>;
export type InvitationId = Id<'inv'>;

/** The workspace that Posthorn's own mails leave from; a migration makes it. */
export const SYSTEM_WORKSPACE_ID = 'wrk_0000000000e008000000000000' as WorkspaceId;

/** Crockford's alphabet in lower case: no i, l, o, u. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

// Conversion is table-driven, two characters of base 32 or 16 at a time, because it is hot: every email has several ids.
const PAIR_OF_TEN_BITS = [...ALPHABET].flatMap((first) => [...ALPHABET].map((second) => first + second));
const PAIR_OF_BYTE = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
const BASE32_VALUE = valuesOf(ALPHABET);
const HEX_VALUE = valuesOf('0123456789abcdef');
/** The offset of each byte in the text of a UUID. */
const UUID_PLACES = [0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34] as const;
/** Scratch buffer for the id being converted. One is enough, because conversion is synchronous. */
const bytes = new Uint8Array(16);

function valuesOf(alphabet: string): Uint8Array {
  const values = new Uint8Array(128);
  [...alphabet].forEach((character, value) => (values[character.charCodeAt(0)] = value));
  return values;
}

const randomPool = new Uint8Array(4096);
let randomUsed = randomPool.length;

/** Takes random bytes from a pool: calling the system's generator for each id would cost more than the rest of making it. */
function takeRandom(offset: number): void {
  if (randomUsed + bytes.length - offset > randomPool.length) {
    randomFillSync(randomPool);
    randomUsed = 0;
  }
  for (let index = offset; index < bytes.length; index += 1) bytes[index] = randomPool[randomUsed++]!;
}

/** What 12 bits can count. */
const MAX_PLACE = 4_095;
const PARTS_OF_MS = 2_048;
/** Of the last id that this process has made. */
let lastMs = 0;
let lastPlace = 0;

/**
 * The place of an id among those of its millisecond: by the part of it that has passed (RFC 9562, section 6.2, method 3), but behind the last id of the same
 * millisecond. So there is room for at least 2,047 more, whatever has passed; any further ones share the last place.
 */
function nextPlace(ms: number, atMs: number): number {
  const byTime = Math.trunc((atMs - ms) * PARTS_OF_MS);
  lastPlace = ms === lastMs && byTime <= lastPlace ? Math.min(lastPlace + 1, MAX_PLACE) : byTime;
  lastMs = ms;
  return lastPlace;
}

function makeUuid(atMs: number): void {
  const ms = Math.trunc(atMs);
  const place = nextPlace(ms, atMs);
  const high = Math.trunc(ms / 65_536);
  const low = ms % 65_536;
  bytes[0] = high >>> 24;
  bytes[1] = high >>> 16;
  bytes[2] = high >>> 8;
  bytes[3] = high;
  bytes[4] = low >>> 8;
  bytes[5] = low;
  bytes[6] = 0x70 | (place >>> 8);
  bytes[7] = place;
  takeRandom(8);
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
}

/**
 * A new UUIDv7 (RFC 9562, section 5.7). Those that a process makes in the same millisecond, up to two thousand, are in the order in which they are made, so
 * lists show what one process has made in that order.
 *
 * @param atMs the time that the id carries, in milliseconds since 1970; the database's time, so that ids made by
 *   different processes fall into the same partitions.
 */
export function newUuid(atMs: number): string {
  makeUuid(atMs);
  return uuidOfBytes();
}

/** A new id that carries the given time (milliseconds since 1970). */
export function newId<Prefix extends string>(prefix: Prefix, atMs: number): Id<Prefix> {
  makeUuid(atMs);
  return idOfBytes(prefix);
}

/** The smallest native id. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** The smallest UUIDv7 with this timestamp (milliseconds since 1970), as a bound for range queries; `uuid_v7_floor` in SQL. */
export function leastUuid(atMs: number): string {
  const time = atMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-0000-0000-000000000000`;
}

/** The id of a row whose native key is `uuid` (lower-case, with hyphens). */
export function idFromUuid<Prefix extends string>(prefix: Prefix, uuid: string): Id<Prefix> {
  for (let index = 0; index < bytes.length; index += 1) {
    const place = UUID_PLACES[index]!;
    bytes[index] = (HEX_VALUE[uuid.charCodeAt(place)]! << 4) | HEX_VALUE[uuid.charCodeAt(place + 1)]!;
  }
  return idOfBytes(prefix);
}

/** The native key of a well-formed id. */
export function uuidOf(id: Id<string>): string {
  readId(id);
  return uuidOfBytes();
}

/** Writes the 16 bytes of the UUID of a well-formed id into `target`. @returns 16 */
export function writeUuid(id: Id<string>, target: Uint8Array, at: number): number {
  readId(id);
  target.set(bytes, at);
  return bytes.length;
}

function readId(id: Id<string>): void {
  const suffix = id.length - 26;
  bytes[0] = tenBits(id, suffix);
  for (let index = 1, place = suffix + 2; index < bytes.length; index += 5, place += 8) {
    const high = (tenBits(id, place) << 10) | tenBits(id, place + 2);
    const low = (tenBits(id, place + 4) << 10) | tenBits(id, place + 6);
    bytes[index] = high >>> 12;
    bytes[index + 1] = high >>> 4;
    bytes[index + 2] = (high << 4) | (low >>> 16);
    bytes[index + 3] = low >>> 8;
    bytes[index + 4] = low;
  }
}

/** The first byte takes two characters; then every five bytes take eight. */
function idOfBytes<Prefix extends string>(prefix: Prefix): Id<Prefix> {
  let id = `${prefix}_${PAIR_OF_TEN_BITS[bytes[0]!]!}`;
  for (let index = 1; index < bytes.length; index += 5) {
    const high = (bytes[index]! << 12) | (bytes[index + 1]! << 4) | (bytes[index + 2]! >>> 4);
    const low = ((bytes[index + 2]! & 0x0f) << 16) | (bytes[index + 3]! << 8) | bytes[index + 4]!;
    id += PAIR_OF_TEN_BITS[high >>> 10]! + PAIR_OF_TEN_BITS[high & 1023]!;
    id += PAIR_OF_TEN_BITS[low >>> 10]! + PAIR_OF_TEN_BITS[low & 1023]!;
  }
  return id as Id<Prefix>;
}

function uuidOfBytes(): string {
  return (
    `${hex(0)}${hex(1)}${hex(2)}${hex(3)}-${hex(4)}${hex(5)}-${hex(6)}${hex(7)}-${hex(8)}${hex(9)}-` +
    `${hex(10)}${hex(11)}${hex(12)}${hex(13)}${hex(14)}${hex(15)}`
  );
}

function hex(index: number): string {
  return PAIR_OF_BYTE[bytes[index]!]!;
}

function tenBits(text: string, place: number): number {
  return (BASE32_VALUE[text.charCodeAt(place)]! << 5) | BASE32_VALUE[text.charCodeAt(place + 1)]!;
}

/** The id in `text`, or undefined when it is not a well-formed id with this prefix. */
export function parseId<Prefix extends string>(prefix: Prefix, text: string): Id<Prefix> | undefined {
  if (!text.startsWith(`${prefix}_`)) return undefined;
  return SUFFIX.test(text.slice(prefix.length + 1)) ? (text as Id<Prefix>) : undefined;
}

/** The time that a UUIDv7 or an id made of one carries, in milliseconds since 1970. */
export function timeOf(id: Id<string>): number {
  return Number.parseInt(uuidOf(id).replaceAll('-', '').slice(0, 12), 16);
}
