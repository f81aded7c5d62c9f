/** The newest migration of this release. Apps start only on a database that has it; their images hold no migrations. */
export const NEWEST_MIGRATION = '20261130023000_relays_explained';
