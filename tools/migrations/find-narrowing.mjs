/**
 * A migration.
 *
 * @typedef {{ name: string, sql: string }} Migration
 */

/** Statements that cannot break a program that does not know of them. */
const ADDS = /^(CREATE (TABLE|TYPE|VIEW|SEQUENCE)|INSERT INTO|SELECT|COMMENT ON|SET|GRANT) /i;

/** Changes that a table in use allows, apart from adding columns. A key or a reference is no mere CHECK: `ON CONFLICT` and the deletion of rows rely on it. */
const TABLE_ADDS =
  /^(SET \(|DROP CONSTRAINT (?!.*_(pkey|key|fkey)\b)|ALTER (COLUMN )?\w+ (DROP NOT NULL$|SET DEFAULT |SET STATISTICS |SET STORAGE ))/i;

/**
 * Columns for which Postgres reads or writes every row of the table while nobody else can use it. A default is written to no row if it is a constant, or the
 * same for all rows, as `now()` is.
 */
const EVERY_ROW = / (UNIQUE|PRIMARY KEY|CHECK|REFERENCES|GENERATED|\w*serial\d?)\b| DEFAULT (?!now\(\)).*\(/i;

/** A reference to a table, and what it says of the row there being deleted or changed. */
const REFERENCE =
  / REFERENCES (\w+)(?: ?\([^)]*\))?((?: ON (?:DELETE|UPDATE) (?:NO ACTION|RESTRICT|CASCADE|SET \w+))*)/gi;

/**
 * What migrations take away from programs of the previous release, or no longer let them do, and what keeps them from a table in use for as long as it has
 * many rows: an index of it, a change of its rows, a column that is computed or checked for each of them. It reads statements, not what functions do: the body
 * of one that keeps its name and parameters is taken for as good as it was.
 *
 * @param {readonly Migration[]} before those that the release before knows
 * @param {readonly Migration[]} after
 * @returns {string[]} each as `migration: statement`
 */
export function findNarrowing(before, after) {
  const older = before.flatMap(({ sql }) => statementsOf(sql));
  const functions = new Map(older.flatMap(functionOf));
  const tables = new Set(after.flatMap(({ sql }) => statementsOf(sql)).flatMap(tableOf));
  return after.flatMap(({ name, sql }) =>
    statementsOf(sql)
      .filter((statement) => !onlyAdds(statement, { functions, tables }))
      .map((statement) => `${name}: ${statement}`),
  );
}

/** Nobody waits for it. Postgres itself refuses it beside other statements. */
const CONCURRENT_INDEX = /^CREATE INDEX CONCURRENTLY IF NOT EXISTS \w+ ON \w+ /i;

const INDEX = /^CREATE (?:UNIQUE )?INDEX (?:IF NOT EXISTS )?(\w+) ON (?:ONLY )?(\w+)/i;

/** @param {string} statement @param {{ functions: Map<string, string>, tables: Set<string> }} known */
function onlyAdds(statement, { functions, tables }) {
  if (keepsRows(statement, tables)) return false;
  if (CONCURRENT_INDEX.test(statement)) return true;
  const [, index, ofTable = ''] = INDEX.exec(statement) ?? [];
  if (index !== undefined) return tables.has(ofTable);
  const [, updated] = /^UPDATE (?:ONLY )?(\w+) /i.exec(statement) ?? [];
  if (updated !== undefined) return tables.has(updated);
  const [, table, actions = ''] = /^ALTER TABLE (?:IF EXISTS )?(?:ONLY )?(\w+) (.*)$/i.exec(statement) ?? [];
  if (table !== undefined) return tables.has(table) || partsOf(actions).every(addsToTable);
  const [made] = functionOf(statement);
  // Another function of that name can make calls ambiguous.
  if (made !== undefined) return [undefined, made[1]].includes(functions.get(made[0]));
  return ADDS.test(statement);
}

/**
 * Whether the release before could no longer delete rows, because others, which it does not know, refer to them.
 *
 * @param {string} statement @param {Set<string>} tables
 */
function keepsRows(statement, tables) {
  return [...statement.matchAll(REFERENCE)].some(
    ([, table = '', acts = '']) => !tables.has(table) && !/ ON DELETE (CASCADE|SET)/i.test(acts),
  );
}

/** @param {string} action */
function addsToTable(action) {
  if (!/^ADD COLUMN /i.test(action)) return TABLE_ADDS.test(action);
  const isFilled = !/ NOT NULL\b/i.test(action) || / DEFAULT /i.test(action);
  return isFilled && !EVERY_ROW.test(action);
}

/** The statements of a script, each on one line, without comments, quoted text and bodies of functions. @param {string} sql */
function statementsOf(sql) {
  return sql
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/(\$\w*\$).*?\1/gs, '$$$$')
    .replaceAll(/\bBEGIN ATOMIC\b.*?\bEND(?=\s*;)/gis, '$$$$')
    .replaceAll(/'(?:[^']|'')*'/g, "''")
    .split(';')
    .map((statement) => statement.replaceAll(/\s+/g, ' ').trim())
    .filter((statement) => statement !== '');
}

/** Splits at commas outside of parentheses; text inside parentheses is dropped. @param {string} text @returns {string[]} */
function partsOf(text) {
  const flat = text.replaceAll(/\([^()]+\)/g, '()');
  return flat === text ? text.split(/, ?/) : partsOf(flat);
}

/** The table that a statement creates. @param {string} statement @returns {string[]} */
function tableOf(statement) {
  return /^CREATE TABLE (?:IF NOT EXISTS )?(\w+)/i.exec(statement)?.slice(1) ?? [];
}

/** Name and parameters of the function that a statement creates. @param {string} statement @returns {[string, string][]} */
function functionOf(statement) {
  const [, name, parameters] =
    /^CREATE (?:OR REPLACE )?FUNCTION (\w+) ?\((.*?)\) RETURNS /i.exec(statement) ?? [];
  return name === undefined ? [] : [[name, parameters ?? '']];
}
