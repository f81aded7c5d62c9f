/** What takes long, and who is in the way. @param {import('@posthorn/database').MigrationDelay} delay */
export function delayText({ migration, seconds, holders }) {
  const since = `for ${Math.round(seconds)} s`;
  const what = migration ?? 'what comes before the first migration';
  if (holders === undefined) return `${what} has waited ${since}, and the database does not answer`;
  if (holders.length === 0) return `${what} has been under way ${since}`;
  const who = holders.map(nameOf).join(' and ');
  const why = migration === undefined ? 'which is migrating' : 'which has locked what it changes';
  return `${what} has waited ${since} for ${who}, ${why}`;
}

/** @param {NonNullable<import('@posthorn/database').MigrationDelay['holders']>[number]} holder */
function nameOf({ pid, role, applicationName }) {
  if (pid === 0) return 'a prepared transaction (npm run posthorn -- doctor names it)';
  if (role === '') return `pid ${pid} (a process of Postgres itself, such as autovacuum)`;
  return `pid ${pid} (${applicationName || 'without an application name'}, role ${role})`;
}
