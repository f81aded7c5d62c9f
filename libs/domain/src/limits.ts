const KIB = 1024;
const MIB = 1024 * KIB;

/** The unit of a size: Unicode code points, octets of UTF-8, members of an object, items of an array. */
type SizeUnit = 'characters' | 'bytes' | 'keys' | 'items';

export interface Size {
  readonly max: number;
  readonly unit: SizeUnit;
}

/**
 * The maximum sizes of request data, and so of what emails are made of. Objects are measured in octets of their JSON in UTF-8. Where such a size follows from
 * these and is written down once more, a test compares them: in rendering and inbound (`message-sizes.spec.ts` of libs/use-cases), in the limits of the gateway
 * (`strict-json.spec.ts`, `gateway-settings.spec.ts` of libs/platform), in proxies (`tools/k8s.spec.ts`), and in the documents (`contract.spec.ts` of the gateway).
 */
export const SIZES = {
  /** The body of a request. */
  body: { max: 10 * MIB, unit: 'bytes' },
  /** The body of a batch request. */
  batchBody: { max: 50 * MIB, unit: 'bytes' },
  batch: { max: 50, unit: 'items' },
  html: { max: 5 * MIB, unit: 'bytes' },
  text: { max: 5 * MIB, unit: 'bytes' },
  /** The maximum line length of a message (RFC 5322, section 2.1.1), although a folded header could be longer. */
  subject: { max: 998, unit: 'characters' },
  previewText: { max: 1_000, unit: 'characters' },
  groupBy: { max: 255, unit: 'characters' },
  idempotencyKey: { max: 255, unit: 'characters' },
  /** The display name of a mailbox. */
  displayName: { max: 255, unit: 'characters' },
  templateName: { max: 255, unit: 'characters' },
  replyTo: { max: 5, unit: 'items' },
  attachments: { max: 20, unit: 'items' },
  /** All attachments of an email together, decoded: in base64, they fit into the body of a request. */
  attachedFiles: { max: 7 * MIB, unit: 'bytes' },
  filename: { max: 255, unit: 'characters' },
  mediaType: { max: 255, unit: 'characters' },
  contentId: { max: 255, unit: 'characters' },
  variables: { max: 256 * KIB, unit: 'bytes' },
  contactProperties: { max: 64 * KIB, unit: 'bytes' },
  contactPropertyKeys: { max: 100, unit: 'keys' },
  contactBatch: { max: 500, unit: 'items' },
  suppressionBatch: { max: 500, unit: 'items' },
  /** What a server or a provider said about an email. The beginning is kept. */
  replyText: { max: 10_000, unit: 'characters' },
  reportedBy: { max: 255, unit: 'characters' },
  webhookUrl: { max: 2_048, unit: 'characters' },
  webhookToken: { max: 256, unit: 'characters' },
  apiKeyDisplayName: { max: 100, unit: 'characters' },
  personName: { max: 100, unit: 'characters' },
} as const satisfies Record<string, Size>;

/** The maximum nesting depth of `variables` and `contactProperties`, themselves included. */
export const JSON_LEVELS = 32;

/** How often an email can be moved: each time adds to its timeline, which is read as a whole when a hit is recorded. */
export const MAX_MOVES = 10_000;

/** The maximum number of resources of a workspace. */
export const WORKSPACE_LIMITS = {
  apiKeys: 100,
  webhooks: 50,
  templates: 1_000,
  invitations: 100,
  identities: 200,
} as const;

/** Limits of a workspace that override those of the installation. Null: not overridden; 0: no limit. */
export interface LimitOverrides {
  /** Accepted emails per calendar month (UTC). */
  readonly monthlyEmailLimit: number | null;
  /** Requests per second of each of its keys. */
  readonly ratePerSecond: number | null;
  /** The maximum burst of requests. */
  readonly rateBurst: number | null;
}

/** The maximum values, also for the limits of the installation. */
export const MAX_LIMIT_OVERRIDES = {
  monthlyEmailLimit: 1_000_000_000,
  ratePerSecond: 100_000,
  rateBurst: 1_000_000,
} as const satisfies Record<keyof LimitOverrides, number>;

/** How far ahead an email may be scheduled. */
export const SCHEDULING_HORIZON_DAYS = 90;

/** How far in the past a `sendAt` may be and still mean "now": clocks differ, and requests take time. */
export const SEND_AT_GRACE_MINUTES = 5;
