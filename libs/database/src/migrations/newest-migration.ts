/** The newest migration of this release. Apps start only on a database that has it; their images hold no migrations. */
export const NEWEST_MIGRATION = '20261130030000_persons_erased_in_one_way';
