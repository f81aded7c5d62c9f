/** The syntax tree that Handlebars' parser gives, as far as we look at it; its own types leave out what may be absent. */
export interface Place {
  readonly start: { readonly line: number; readonly column: number };
}

interface Node {
  readonly loc: Place;
}

export interface Program {
  readonly body: Statement[];
  readonly blockParams?: readonly string[];
}

type Statement = Mustache | Block | Forbidden | Inert;

/** `{{path}}` or `{{helper argument option=value}}`. */
export interface Mustache extends Node {
  readonly type: 'MustacheStatement';
  path: Path | Literal;
  params: Expression[];
  hash?: Hash | undefined;
  escaped: boolean;
}

/** `{{#path argument}}…{{else}}…{{/path}}`. */
export interface Block extends Node {
  readonly type: 'BlockStatement';
  path: Path | Literal;
  params: Expression[];
  readonly hash?: Hash | undefined;
  readonly program?: Program | undefined;
  readonly inverse?: Program | undefined;
  /** Without members for a raw block, `{{{{path}}}}…{{{{/path}}}}`. */
  readonly openStrip: { readonly open?: boolean };
}

interface Forbidden extends Node {
  readonly type: 'PartialStatement' | 'PartialBlockStatement' | 'Decorator' | 'DecoratorBlock';
}

interface Inert extends Node {
  readonly type: 'ContentStatement' | 'CommentStatement';
}

export type Expression = Path | SubExpression | Literal;

export interface Path extends Node {
  readonly type: 'PathExpression';
  /** Whether it begins with `@`. */
  readonly data: boolean;
  /** How many `../` it begins with. */
  readonly depth: number;
  readonly parts: readonly string[];
  readonly original: string;
}

/** `(helper argument option=value)`. */
export interface SubExpression extends Node {
  readonly type: 'SubExpression';
  readonly path: Path | Literal;
  readonly params: readonly Expression[];
  readonly hash?: Hash | undefined;
}

export interface Literal extends Node {
  readonly type: 'StringLiteral' | 'NumberLiteral' | 'BooleanLiteral' | 'UndefinedLiteral' | 'NullLiteral';
  readonly value?: unknown;
  readonly original?: unknown;
}

interface Hash {
  readonly pairs: readonly { readonly key: string; readonly value: Expression; readonly loc: Place }[];
}

/** Whether it says itself that it is no helper and no name of a block's item: `this.word`, `./word`. As Handlebars has it. */
export function isScoped(path: Path): boolean {
  return /^\.|this\b/.test(path.original);
}

/** Whether it is one bare word, as the name of a helper is: neither `this.word` nor `../word` nor `@word`. */
export function isWord(path: Path | Literal): path is Path {
  if (path.type !== 'PathExpression' || path.data || path.depth > 0 || path.parts.length !== 1) return false;
  return !isScoped(path);
}

/** Whether it calls a helper by what it gives to it; a bare name is a variable. */
export function isCall({ params, hash }: Mustache | Block): boolean {
  return params.length > 0 || hash !== undefined;
}

/** What stands at the head of a call as it is written. */
export function headOf(path: Path | Literal): string {
  return String(path.original);
}
