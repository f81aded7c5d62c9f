import type { Fault } from './parse-part.ts';

/** How deep blocks and parentheses may stand in each other. */
export const MOST_LEVELS = 100;
/** What is said of what is nested too deeply. */
export const TOO_DEEP = `blocks and parentheses stand more than ${MOST_LEVELS} deep in each other here; make it flatter`;

/** Fifty for each of the tags that a part may have; to judge so many takes about a second. */
const MOST_CHARACTERS = 100_000;
const LINE_BREAK = /\r\n?|\n/;
const CLOSING: Readonly<Record<string, string>> = { '"': '"', "'": "'", '[': ']' };
/** Behind the signs that a tag begins with, these can stand in none. */
const NEVER_IN_A_TAG = '{<';
const LONGEST_BEGINNING = 3;
/** `{{else}}` and `{{^}}` go no deeper: they are the other half of the block. */
const OPENS_A_BLOCK = /^~?(?:#|\^(?!\s*~?$))/;
const CHAINS_A_BLOCK = /^~?\s*else\b(?!\s*~?$)/;
const CLOSES_A_BLOCK = /^~?\//;

/** A tag, without its braces. */
interface Tag {
  readonly end: number;
  /** Without comments and what stands in quotes or brackets. */
  readonly characters: number;
  /** Whether the parser goes no further than this tag. */
  readonly isLast: boolean;
  /** Whether its parentheses stand too deep in each other where it ends. */
  readonly isTooDeep: boolean;
}

/**
 * Finds what would keep the parser busy, without parsing: what it does with each word in the tags takes the longer the deeper blocks and
 * parentheses stand in each other. Texts in quotes, odd names in brackets and comments cost it next to nothing, and may be as long as they
 * like. What is no template is left to the parser, which stops there and says why.
 */
export function faultInTags(source: string): Fault | undefined {
  const blocks = new Blocks();
  let characters = 0;
  for (let begin = nextTag(source, 0); begin !== undefined;) {
    const tag = readTag(source, begin);
    blocks.see(source.slice(begin, tag.end));
    if (tag.isTooDeep) return { ...placeOf(source, tag.end), message: TOO_DEEP };
    if (blocks.depth > MOST_LEVELS) return { ...placeOf(source, begin - 2), message: TOO_DEEP };
    characters += tag.characters;
    if (tag.isLast) break;
    begin = nextTag(source, tag.end);
  }
  return characters > MOST_CHARACTERS ? tooLong(characters) : undefined;
}

/** How deep the blocks stand in each other that are open. */
class Blocks {
  depth = 0;
  /** Of each open block, how deep it has become: each `{{else if …}}` stands in the one before. */
  private readonly open: number[] = [];

  see(tag: string): void {
    if (CLOSES_A_BLOCK.test(tag)) this.depth -= this.open.pop() ?? 0;
    else if (OPENS_A_BLOCK.test(tag)) this.deepen(this.open.push(0));
    else if (CHAINS_A_BLOCK.test(tag) && this.open.length > 0) this.deepen(this.open.length);
  }

  private deepen(count: number): void {
    this.open[count - 1]! += 1;
    this.depth += 1;
  }
}

/** Where the next tag begins, behind its braces. `\{{` is shown as it is; in `\\{{` it is the backslash that is. */
function nextTag(source: string, from: number): number | undefined {
  for (let at = source.indexOf('{{', from); at >= 0; at = source.indexOf('{{', at + 2)) {
    if (source[at - 1] !== '\\' || source[at - 2] === '\\') return at + 2;
  }
  return undefined;
}

function readTag(source: string, begin: number): Tag {
  const commentEnd = endOfComment(source, begin);
  if (commentEnd !== undefined) return { end: commentEnd, characters: 0, isLast: false, isTooDeep: false };
  let level = 0;
  let characters = 0;
  let at = begin;
  for (; at < source.length && !source.startsWith('}}', at); at += 1) {
    const sign = source[at]!;
    if (sign === '(') level += 1;
    if (sign === ')') level -= 1;
    const isLast = at >= begin + LONGEST_BEGINNING && NEVER_IN_A_TAG.includes(sign);
    if (isLast || level > MOST_LEVELS) return { end: at, characters, isLast, isTooDeep: !isLast };
    characters += 1;
    const closing = CLOSING[sign];
    if (closing !== undefined) at = endOfQuoted(source, at + 1, closing);
  }
  return { end: at, characters, isLast: false, isTooDeep: false };
}

/** As the lexer has it: `{{!-- … --}}` may contain braces, `{{! … }}` ends with the first. */
function endOfComment(source: string, begin: number): number | undefined {
  const from = source[begin] === '~' ? begin + 1 : begin;
  if (source[from] !== '!') return undefined;
  const ends = source.startsWith('!--', from) ? /--~?\}\}/g : /\}\}/g;
  ends.lastIndex = from;
  return ends.exec(source)?.index ?? source.length;
}

/** Where the quote, or the bracket, stands that ends it: one behind a backslash only where there is no other. */
function endOfQuoted(source: string, begin: number, closing: string): number {
  let escaped = source.length;
  for (let at = source.indexOf(closing, begin); at >= 0; at = source.indexOf(closing, at + 1)) {
    if (at === begin || source[at - 1] !== '\\') return at;
    escaped = at;
  }
  return escaped;
}

function placeOf(source: string, at: number): { line: number; column: number } {
  const lines = source.slice(0, at).split(LINE_BREAK);
  return { line: lines.length, column: lines.at(-1)!.length + 1 };
}

function tooLong(characters: number): Fault {
  const message =
    `has ${characters} characters in its tags, not counting comments and texts in quotes, ` +
    `more than the ${MOST_CHARACTERS} that are possible; make it simpler`;
  return { line: 1, column: 1, message };
}
