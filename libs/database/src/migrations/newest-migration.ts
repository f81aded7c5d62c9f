/** The newest migration of this release. Apps start only on a database that has it; their images hold no migrations. */
export const NEWEST_MIGRATION = '20261128225500_eras_numbered_by_time';
