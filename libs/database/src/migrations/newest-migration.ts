/** The newest migration of this release. Apps start only on a database that has it; their images hold no migrations. */
export const NEWEST_MIGRATION = '20261130160000_put_back_from_where_it_was';
