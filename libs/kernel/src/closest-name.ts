/** Longer than any known name; comparing takes time proportional to the product of both lengths. */
const MAX_COMPARED_CHARACTERS = 40;
const MAX_EDITS = 2;

/** The known name closest to `name`, ignoring case, `_` and `-`, within two edits; undefined when there is none. */
export function closestName(name: string, known: readonly string[]): string | undefined {
  if (name.length > MAX_COMPARED_CHARACTERS) return undefined;
  const plain = plainForm(name);
  let best: { name: string; edits: number } | undefined;
  for (const candidate of known) {
    const edits = editsBetween(plain, plainForm(candidate));
    // Two edits of a word of four letters make another word.
    if (edits > MAX_EDITS || edits * 3 > candidate.length) continue;
    if (best === undefined || edits < best.edits) best = { name: candidate, edits };
  }
  return best?.name;
}

function plainForm(name: string): string {
  return name.toLowerCase().replace(/[_\-\s]/g, '');
}

/** The edit distance with swaps of neighbours (optimal string alignment). */
function editsBetween(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const changed = last[column - 1]! + (left[row - 1] === right[column - 1] ? 0 : 1);
      const swaps = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swapped = swaps ? (beforeLast[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(changed, last[column]! + 1, current[column - 1]! + 1, swapped));
    }
    [beforeLast, last] = [last, current];
  }
  return last[right.length]!;
}
