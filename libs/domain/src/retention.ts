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
  contentDays: { min: 0, max: 365 },
  metadataDays: { min: 1, max: 3_650 },
  eventDays: { min: 1, max: 365 },
} as const satisfies Record<keyof Retention, { readonly min: number; readonly max: number }>;

/** What is looked through for what is past its time. */
export type RetentionSubject = 'content' | 'metadata' | 'events';
