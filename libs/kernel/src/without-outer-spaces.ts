import { withoutTrailing } from './without-trailing.ts';

/** A text without the spaces around it, of U+0020 alone: `trim` would also remove others, and characters that must be refused, such as a byte order mark. */
export function withoutOuterSpaces(text: string): string {
  return withoutTrailing(text, ' ').replace(/^ +/, '');
}
