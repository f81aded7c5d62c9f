const INVISIBLE = '[\\u00ad\\u034f\\u180e\\u200b-\\u200f\\u2060\\ufeff]';
const SPACE = '[ \\u00a0\\u2000-\\u200a]';
/** Three or more joiners, direction marks or spaces of no width, and the spaces between them: authors pad pre-headers with them. */
const PADDING = new RegExp(`${SPACE}?${INVISIBLE}(?:${SPACE}*${INVISIBLE}){2,}${SPACE}*`, 'g');
/** Shows nothing in a text, except in terminals, where it is a hyphen. */
const SOFT_HYPHEN = /\u00ad/g;
const EMPTY_LINES = /\n{3,}/g;

/** Removes what nobody would write into a text: padding, spaces at the ends of lines, and more than one empty line at once. */
export function tidyText(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(PADDING, ' ').replace(SOFT_HYPHEN, '').trimEnd())
    .join('\n')
    .replace(EMPTY_LINES, '\n\n')
    .trim();
}
