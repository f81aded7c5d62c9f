import { endOfString } from '@posthorn/domain';

/** Numbers more leniently than in JSON: the engine itself reports where those are invalid. */
const LITERAL = /-?\d[\d.eE+-]*|true|false|null/y;
const WHITESPACE = /[ \t\r\n]+/y;
const LINE_FEED = 0x0a;

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
    const gap = endOf(WHITESPACE, text, at);
    if (gap > at) at = gap;
    else if (isExpectedPunctuation(char, before)) [before, at] = [char, at + 1];
    else {
      const end = char === '"' ? endOfString(text, at) + 1 : endOf(LITERAL, text, at);
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

/** The end of what the pattern matches at `at`; `at` itself when there is none. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The line and the column of an index in a text, from 1. */
export function lineAndColumn(text: string, at: number): [line: number, column: number] {
  let [line, begin] = [1, 0];
  // Not by `indexOf`, whose calls would take a second for a body of line feeds.
  for (let i = 0; i < at; i++) {
    if (text.charCodeAt(i) !== LINE_FEED) continue;
    line += 1;
    begin = i + 1;
  }
  return [line, at - begin + 1];
}
