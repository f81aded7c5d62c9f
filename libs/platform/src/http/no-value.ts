import { endOfString } from '@posthorn/domain';

/** Numbers a little more freely than JSON has them: where those break the engine says itself. */
const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y;

/**
 * Where something else stands in the place of a value, such as `NaN`, `None` or `'text'`: the one fault of JSON of which the engine
 * does not say where it is.
 *
 * @param text in which this is the first fault
 */
export function noValueAt(text: string): number {
  // Where the text begins a value is due, as it is after a colon.
  let before = ':';
  let at = 0;
  while (at < text.length) {
    const char = text[at]!;
    if (' \t\r\n'.includes(char)) at += 1;
    else if (mayFollow(char, before)) [before, at] = [char, at + 1];
    else {
      const end = char === '"' ? endOfString(text, at) + 1 : endOfLiteral(text, at);
      if (end <= at) break;
      [before, at] = ['a value', end];
    }
  }
  return at;
}

/** Whether the character is one of punctuation, and none that stands where a value is due. */
function mayFollow(char: string, before: string): boolean {
  if (char === '{' || char === '[') return true;
  if (before === '[' && char === ']') return true;
  return '}],:'.includes(char) && !'[,:'.includes(before);
}

/** Not after `at` when there is none. */
function endOfLiteral(text: string, at: number): number {
  LITERAL.lastIndex = at;
  return LITERAL.test(text) ? LITERAL.lastIndex : at;
}

/** The line and the column of a place in a text, from 1. */
export function placeOf(text: string, at: number): [line: number, column: number] {
  let [line, begin] = [1, 0];
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', begin)) {
    line += 1;
    begin = end + 1;
  }
  return [line, at - begin + 1];
}
