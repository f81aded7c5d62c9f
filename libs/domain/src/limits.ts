const KIB = 1024;
const MIB = 1024 * KIB;

/** What a size counts: Unicode characters (code points), octets of UTF-8, members of an object, items of an array. */
type SizeUnit = 'characters' | 'bytes' | 'keys' | 'items';

export interface Size {
  readonly max: number;
  readonly unit: SizeUnit;
}

/** How large what a caller sends may be. Objects are measured as the UTF-8 octets of their JSON. */
export const SIZES = {
  /** The body of one call. */
  body: { max: 10 * MIB, unit: 'bytes' },
  /** The body of one batch call. */
  batchBody: { max: 50 * MIB, unit: 'bytes' },
  batch: { max: 50, unit: 'items' },
  html: { max: 5 * MIB, unit: 'bytes' },
  text: { max: 5 * MIB, unit: 'bytes' },
  /** The longest line of a message (RFC 5322, section 2.1.1), although a folded header could be longer. */
  subject: { max: 998, unit: 'characters' },
  previewText: { max: 1_000, unit: 'characters' },
  groupBy: { max: 255, unit: 'characters' },
  idempotencyKey: { max: 255, unit: 'characters' },
  /** The name beside an address. */
  displayName: { max: 255, unit: 'characters' },
  templateName: { max: 255, unit: 'characters' },
  replyTo: { max: 5, unit: 'items' },
  variables: { max: 256 * KIB, unit: 'bytes' },
  contactProperties: { max: 64 * KIB, unit: 'bytes' },
  contactPropertyKeys: { max: 100, unit: 'keys' },
  contactBatch: { max: 500, unit: 'items' },
  webhookUrl: { max: 2_048, unit: 'characters' },
  webhookToken: { max: 256, unit: 'characters' },
  apiKeyDisplayName: { max: 100, unit: 'characters' },
  personName: { max: 100, unit: 'characters' },
} as const satisfies Record<string, Size>;

/** How many levels of objects and arrays `variables` and `contactProperties` may have, themselves included. */
export const JSON_LEVELS = 32;

/** How many of each a workspace may have. */
export const WORKSPACE_LIMITS = {
  apiKeys: 100,
  webhooks: 50,
  templates: 1_000,
  invitations: 100,
  identities: 200,
} as const;

/** Limits that a workspace may have of its own: null means the installation's, 0 means none. */
export interface OwnLimits {
  /** Accepted emails a calendar month (UTC). */
  readonly monthlyEmailLimit: number | null;
  /** Requests a second of each of its keys. */
  readonly ratePerSecond: number | null;
  /** How many of them may come at once. */
  readonly rateBurst: number | null;
}

/** The highest of them; an installation's are no higher. */
export const HIGHEST_LIMITS = {
  monthlyEmailLimit: 1_000_000_000,
  ratePerSecond: 100_000,
  rateBurst: 1_000_000,
} as const satisfies Record<keyof OwnLimits, number>;

/** How far ahead an email may be scheduled. */
export const SCHEDULING_HORIZON_DAYS = 90;

/** How far in the past a `sendAt` may lie and still mean "now": clocks differ, and requests travel. */
export const SEND_AT_GRACE_MINUTES = 5;
