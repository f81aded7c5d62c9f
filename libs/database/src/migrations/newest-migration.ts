/** The newest migration of this release. Apps start only on a database that has it; their images hold no migrations. */
export const NEWEST_MIGRATION = '20261129223000_email_events_recorded_for_polling';
