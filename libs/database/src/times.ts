/**
 * Times are read as ISO 8601 writes them, and a day has 24 hours: a server, database or role whose `datestyle` is another one would make null of each time,
 * and one whose `timezone` has daylight saving would count days of 23 and 25 hours.
 */
export const TIMES = `SET datestyle = ISO; SET timezone = 'UTC'`;
