/** @typedef {import('@posthorn/database').MigrationDelay} MigrationDelay */

/** What takes long, and who is in the way. @param {MigrationDelay} delay */
export function delayText({ migration, seconds, holders, index }) {
  const since = `for ${Math.round(seconds)} s`;
  const what = migration ?? 'what comes before the first migration';
  if (holders === undefined) return `${what} has waited ${since}, and the database does not answer`;
  if (holders.length === 0) return `${what} has been under way ${since}${progressText(index)}`;
  const who = holders.map(nameOf).join(' and ');
  return `${what} has waited ${since} for ${who}, ${reasonOf(migration, index)}`;
}

/** @param {MigrationDelay['migration']} migration @param {MigrationDelay['index']} index */
function reasonOf(migration, index) {
  if (migration === undefined) return 'which is migrating';
  return index === undefined
    ? 'which has locked what it changes'
    : `which began before and must end first${progressText(index)}`;
}

/** @param {MigrationDelay['index']} index */
function progressText(index) {
  if (index === undefined) return '';
  const percent = index.percent === null ? '' : `, ${index.percent} %`;
  return `: index of ${index.table}, ${index.phase}${percent}`;
}

/** @param {NonNullable<MigrationDelay['holders']>[number]} holder */
function nameOf({ pid, role, applicationName }) {
  if (pid === 0) return 'a prepared transaction (npm run posthorn -- doctor names it)';
  if (role === '') return `pid ${pid} (a process of Postgres itself, such as autovacuum)`;
  return `pid ${pid} (${applicationName || 'without an application name'}, role ${role})`;
}
