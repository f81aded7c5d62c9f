/** The retention periods of a workspace. */
export interface Retention {
  /** The content of emails: HTML, text, variables. */
  readonly contentDays: number;
  /** Emails, with all their data. Their content is kept no longer. */
  readonly metadataDays: number;
  /** Events, with their deliveries. */
  readonly eventDays: number;
}

/** Retention periods of a workspace that override those of the installation; null: not overridden. */
export type RetentionOverrides = { readonly [Name in keyof Retention]: number | null };

/** The permitted values of the overrides. */
export const RETENTION_BOUNDS = {
  contentDays: { min: 0, max: 365 },
  metadataDays: { min: 1, max: 3_650 },
  eventDays: { min: 1, max: 365 },
} as const satisfies Record<keyof Retention, { readonly min: number; readonly max: number }>;

/** The kinds of data that are deleted after their retention period. */
export type RetentionSubject = 'content' | 'metadata' | 'events';
