import { endOfString } from '@posthorn/domain';

/** Numbers more leniently than in JSON: the engine itself reports where those are invalid. */
const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y;

/**
 * The index of an invalid value such as `NaN`, `None` or `'text'`: the only syntax error of JSON whose position the engine does not
 * report.
 *
 * @param text whose first syntax error is an invalid value
 */
export function invalidValueAt(text: string): number {
  // A value is expected at the start, as after a colon.
  let before = ':';
  let at = 0;
  while (at < text.length) {
    const char = text[at]!;
    if (' \t\r\n'.includes(char)) at += 1;
    else if (isExpectedPunctuation(char, before)) [before, at] = [char, at + 1];
    else {
      const end = char === '"' ? endOfString(text, at) + 1 : endOfLiteral(text, at);
      if (end <= at) break;
      [before, at] = ['a value', end];
    }
  }
  return at;
}

/** Whether the character is punctuation that does not stand in the place of a value. */
function isExpectedPunctuation(char: string, before: string): boolean {
  if (char === '{' || char === '[') return true;
  if (before === '[' && char === ']') return true;
  return '}],:'.includes(char) && !'[,:'.includes(before);
}

/** The end of the literal at `at`; `at` itself when there is none. */
function endOfLiteral(text: string, at: number): number {
  LITERAL.lastIndex = at;
  return LITERAL.test(text) ? LITERAL.lastIndex : at;
}

/** The line and the column of an index in a text, from 1. */
export function lineAndColumn(text: string, at: number): [line: number, column: number] {
  let [line, begin] = [1, 0];
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', begin)) {
    line += 1;
    begin = end + 1;
  }
  return [line, at - begin + 1];
}
