/**
 * How both sides write, whatever is chosen for the server, the database or the role. Times are read as ISO 8601 writes them, and a day has 24 hours: another
 * `datestyle` would make null of each time, and a `timezone` with daylight saving would count days of 23 and 25 hours. A backslash in a text is one:
 * without `standard_conforming_strings` a CHECK would be made of another pattern than the migration says. The names of tables are bare:
 * with `quote_all_identifiers` no partition would be made, as their months are read from the names.
 */
export const SESSION_FORMATS = [
  'SET datestyle = ISO',
  "SET timezone = 'UTC'",
  'SET standard_conforming_strings = on',
  'SET quote_all_identifiers = off',
].join('; ');
