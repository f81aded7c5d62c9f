/** The syntax tree of Handlebars' parser, as far as it is used here; Handlebars' own types do not say which fields may be absent. */
export interface SourceLocation {
  readonly start: { readonly line: number; readonly column: number };
}

interface Node {
  readonly loc: SourceLocation;
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
  /** Empty for a raw block, `{{{{path}}}}…{{{{/path}}}}`. */
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
  readonly pairs: readonly {
    readonly key: string;
    readonly value: Expression;
    readonly loc: SourceLocation;
  }[];
}

/** Whether a path is explicitly a variable (`this.word`, `./word`), not a helper; as in Handlebars. */
function isScoped(path: Path): boolean {
  return /^\.|this\b/.test(path.original);
}

/** Whether a path is a single bare word, which can name a helper: not `this.word`, `../word` or `@word`. */
export function isWord(path: Path | Literal): path is Path {
  if (path.type !== 'PathExpression' || path.data || path.depth > 0 || path.parts.length !== 1) return false;
  return !isScoped(path);
}

/** Whether a tag calls a helper: it has arguments; a bare name is a variable. */
export function isCall({ params, hash }: Mustache | Block): boolean {
  return params.length > 0 || hash !== undefined;
}

/** The name at the beginning of a call, as written. */
export function headOf(path: Path | Literal): string {
  return String(path.original);
}
