/** The maximum edit distance between a mistyped name and the suggestion. */
const MAX_EDITS = 2;

/**
 * The name that is most similar to a mistyped one.
 *
 * @param {string} text
 * @param {string[]} names
 * @returns {string | undefined} undefined when none is similar enough
 */
export function closestName(text, names) {
  const nearest = names
    .map((name) => ({ name, edits: editsBetween(text, name) }))
    .sort((one, other) => one.edits - other.edits)[0];
  return nearest !== undefined && nearest.edits <= Math.min(MAX_EDITS, nearest.name.length / 2)
    ? nearest.name
    : undefined;
}

/** The Levenshtein distance. @param {string} from @param {string} to */
function editsBetween(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const letter of from) {
    const [first = 0, ...above] = row;
    let diagonal = first;
    let left = first + 1;
    row = [left];
    for (const [column, up] of above.entries()) {
      left = Math.min(diagonal + (letter === to[column] ? 0 : 1), up + 1, left + 1);
      diagonal = up;
      row.push(left);
    }
  }
  return row.at(-1) ?? 0;
}
