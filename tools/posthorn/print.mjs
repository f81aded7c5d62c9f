/** Characters that move the cursor or change the direction of the text, with which a name could overwrite the table. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** Escapes control characters, so that a text from the database is safe to print on a terminal. @param {string} text */
export function visible(text) {
  return text.replace(INVISIBLE, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/** The length of a time to the minute, in ISO 8601. */
const TO_THE_MINUTE = 16;
/** The same to the second. */
export const TO_THE_SECOND = 19;

/**
 * A moment in UTC. Somebody may have written one into the database that no Date can hold, such as `infinity`: that one is named, so that the others are shown.
 *
 * @param {Date} date
 * @param {number} [length]
 */
export function dateTime(date, length = TO_THE_MINUTE) {
  return Number.isFinite(Number(date)) ? date.toISOString().slice(0, length).replace('T', ' ') : String(date);
}

/**
 * Rows as aligned columns.
 *
 * @template Row
 * @param {readonly Row[]} rows
 * @param {Record<string, (row: Row) => string>} columns by their headings
 * @param {string} whenEmpty said instead when there are no rows
 * @returns {string}
 */
export function table(rows, columns, whenEmpty) {
  if (rows.length === 0) return whenEmpty;
  const lines = [
    Object.keys(columns),
    ...rows.map((row) => Object.values(columns).map((cell) => visible(cell(row)))),
  ];
  return aligned(lines).join('\n');
}

/** Lines of cells, each column as wide as its widest cell. @param {string[][]} lines @returns {string[]} */
export function aligned(lines) {
  const widths = (lines[0] ?? []).map((_, column) =>
    lines.reduce((widest, line) => Math.max(widest, widthOf(line[column] ?? '')), 0),
  );
  const padded = (cell, column) => cell + ' '.repeat((widths[column] ?? 0) - widthOf(cell));
  return lines.map((line) => line.map(padded).join('  ').trimEnd());
}

/** Counts by table under a heading; nothing if there are none. @param {string} what @param {Record<string, number>} counts @returns {string[]} */
export function countsOf(what, counts) {
  const rows = Object.entries(counts).map(([table, count]) => [`  ${table}`, String(count)]);
  return rows.length === 0 ? [] : [`${what}:`, ...aligned(rows)];
}

const TOLD_EVERY_MS = 5_000;

/** Says on stderr, every five seconds, how far a long command has got. @param {string} what is counted */
export function tellsProgress(what) {
  let toldAt = performance.now();
  return (/** @type {number} */ count) => {
    if (performance.now() - toldAt < TOLD_EVERY_MS) return;
    toldAt = performance.now();
    process.stderr.write(`${count} ${what} …\n`);
  };
}

function widthOf(text) {
  return [...text].length;
}
