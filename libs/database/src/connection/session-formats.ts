/**
 * Text formats that the code relies on, overriding the settings of server, database and role:
 * - `datestyle`: times are parsed as ISO 8601; in another style they would be read as null.
 * - `timezone`: in a zone with daylight saving, some days would have 23 or 25 hours.
 * - `standard_conforming_strings`: otherwise a backslash in a migration's CHECK pattern would mean something else.
 * - `quote_all_identifiers`: the months of partitions are parsed from unquoted table names.
 */
export const SESSION_FORMATS = [
  'SET datestyle = ISO',
  "SET timezone = 'UTC'",
  'SET standard_conforming_strings = on',
  'SET quote_all_identifiers = off',
].join('; ');
