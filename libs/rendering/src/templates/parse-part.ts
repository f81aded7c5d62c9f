import Handlebars from 'handlebars';
import type { Program } from './syntax.ts';

/** Many times what any email has; compiling takes about 0.2 ms per tag. */
const MAX_TAGS = 2_000;
const LINE_BREAK = /\r\n?|\n/;
const UNCLOSED_TAG = 'a tag is opened here or before and never closed; close it with `}}`';
const NO_NAME =
  'behind a dot stands a name; put what is none, such as a place in a list, into brackets: `{{items.[0]}}`';
const ELSE_OUTSIDE =
  'an `{{else}}` stands outside of a block; put it between the opening and the closing of one';
const ENDS_TOO_EARLY =
  'the tag ends too early; name what is to be printed, and close as many braces as were opened';
const OPENING = '{{';
const BLOCK = /\{\{~?\s*(?:([#^])\s*([^\s{}~]+)(?:[\s~][^{}]*)?|(\/)[^{}]*)\}\}/g;

/** A fault in a part, with its position. */
export interface Fault {
  readonly line: number;
  /** The first is 1. */
  readonly column: number;
  /** What is wrong and how to fix it. */
  readonly message: string;
}

/** Programs that inline CSS write links again, and take the braces in them for characters that a URL cannot have. */
const ENCODED_TAG = /%7B%7B[^\s"'<>]{1,100}?%7D%7D/i;

interface Lexer {
  readonly yylloc?: { readonly first_line: number; readonly first_column: number };
}

/** After a failure, the lexer is at the position of the fault; it is missing in the types. */
const { lexer } = (Handlebars as unknown as { Parser: { lexer: Lexer } }).Parser;

/** Parses one part of a template, keeping its white space. */
export function parsePart(source: string): Program | Fault {
  const tags = source.split(OPENING).length - 1;
  if (tags > MAX_TAGS) {
    return {
      line: 1,
      column: 1,
      message: `has ${tags} tags, more than the ${MAX_TAGS} allowed; make it simpler`,
    };
  }
  try {
    return Handlebars.parseWithoutProcessing(source) as unknown as Program;
  } catch (error) {
    return faultOf(error, source);
  }
}

/** The fault of the first tag in HTML whose braces are percent-encoded: its link would lead nowhere, in every email. */
export function faultOfEncodedTag(html: string): Fault | undefined {
  const found = ENCODED_TAG.exec(html);
  if (found === null) return undefined;
  const before = html.slice(0, found.index).split(LINE_BREAK);
  return {
    line: before.length,
    column: before.at(-1)!.length + 1,
    message: `\`${shown(found[0])}\` is a tag whose braces are percent-encoded, as programs that inline CSS do in links; write \`{{\` and \`}}\``,
  };
}

/** Whether a part could not be parsed. */
export function isFault(parsed: Program | Fault): parsed is Fault {
  return 'message' in parsed;
}

function faultOf(error: unknown, source: string): Fault {
  const { message, lineNumber, column } = error as Error & { lineNumber?: number; column?: number };
  // Only faults that are found in the syntax tree, such as a mismatched closing tag, have a position of their own.
  if (lineNumber !== undefined)
    return { line: lineNumber, column: (column ?? 0) + 1, message: explain(message) };
  const place = lexer.yylloc;
  const at = { line: place?.first_line ?? 1, column: (place?.first_column ?? 0) + 1 };
  if (/got 'EOF'$/.test(message)) return faultAtEnd(source, at);
  // The lexer does not recognise a name at the very end of an unclosed tag.
  if (!/\}\}/.test(from(source, at))) return { ...at, message: UNCLOSED_TAG };
  return { ...at, message: explain(message) };
}

function explain(message: string): string {
  const [, opened, closed] = /^(.*) doesn't match (.*?)(?: - \d+:\d+)?$/s.exec(message) ?? [];
  if (closed !== undefined) {
    const [open, close] = [shown(opened!), shown(closed)];
    return `the block \`{{#${open}}}\` is closed by \`{{/${close}}}\`; close it with \`{{/${open}}}\``;
  }
  const [, path] = /^Invalid path: (.*?)(?: - \d+:\d+)?$/s.exec(message) ?? [];
  if (path !== undefined) return `\`${shown(path)}\` is not a path; \`this\` and \`../\` can only begin one`;
  const [, found] = /got '(\w+)'$/.exec(message) ?? [];
  return (
    SENTENCES[found ?? ''] ?? 'this is not in the template language; look at what stands between the braces'
  );
}

/** By the unexpected token. */
const SENTENCES: Readonly<Record<string, string>> = {
  OPEN_ENDBLOCK: 'a block is closed that is not open; take this out, or open the block before it',
  INVERSE: ELSE_OUTSIDE,
  OPEN_INVERSE_CHAIN: ELSE_OUTSIDE,
  CLOSE: ENDS_TOO_EARLY,
  CLOSE_UNESCAPED: ENDS_TOO_EARLY,
  NUMBER: NO_NAME,
  STRING: NO_NAME,
  BOOLEAN: NO_NAME,
  EQUALS: 'an `=` only gives an option to a helper; what compares is a helper, too: `{{#if (eq a b)}}`',
  CLOSE_BLOCK_PARAMS:
    'there are no filters and no operators; write a helper: `{{uppercase name}}`, `{{default name "friend"}}`, `{{#if (or a b)}}`',
  INVALID:
    'a character stands here that cannot be between the braces; put texts into quotes, and odd names and places in lists into brackets: ' +
    '`{{[odd name]}}`, `{{items.[0]}}`; what compares is a helper: `{{#if (gt a b)}}`',
};

function faultAtEnd(source: string, at: { line: number; column: number }): Fault {
  const open = lastOpenBlock(source);
  if (open === undefined) return { ...at, message: UNCLOSED_TAG };
  const before = source.slice(0, open.index).split(LINE_BREAK);
  return {
    line: before.length,
    column: before.at(-1)!.length + 1,
    message: `the block \`{{#${shown(open.name)}}}\` is never closed; close it with \`{{/${shown(open.name)}}}\``,
  };
}

function from(source: string, { line, column }: { line: number; column: number }): string {
  return source
    .split(LINE_BREAK)
    .slice(line - 1)
    .join('\n')
    .slice(column - 1);
}

function lastOpenBlock(source: string): { name: string; index: number } | undefined {
  const open: { name: string; index: number }[] = [];
  for (const { 1: opens, 2: name, 3: closes, index } of source.matchAll(BLOCK)) {
    if (closes !== undefined) open.pop();
    else if (opens !== undefined) open.push({ name: name!, index });
  }
  return open.at(-1);
}

/** A name from a template for a fault: shortened, on one line. */
export function shown(name: string): string {
  const printable = name.slice(0, 60).replace(/[\p{C}\p{Z}`]+/gu, ' ');
  return name.length > 60 ? `${printable}…` : printable;
}
