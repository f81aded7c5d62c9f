/** For how many days what a workspace sends is kept. */
export interface Retention {
  /** What emails say: HTML, text, variables. */
  readonly contentDays: number;
  /** Emails, with all that is known of them. What they say is kept no longer. */
  readonly metadataDays: number;
  /** Events, with their deliveries. */
  readonly eventDays: number;
}

/** The same as a workspace may have it of its own: null means the installation's. */
export type OwnRetention = { readonly [Name in keyof Retention]: number | null };

/** What a workspace's own may be. */
export const RETENTION_BOUNDS = {
  contentDays: { least: 0, most: 365 },
  metadataDays: { least: 1, most: 3_650 },
  eventDays: { least: 1, most: 365 },
} as const satisfies Record<keyof Retention, { readonly least: number; readonly most: number }>;

/** What is looked through for what is past its time. */
export type RetentionSubject = 'content' | 'metadata' | 'events';
