import { shown } from './parse-part.ts';
import {
  type Block,
  type Expression,
  headOf,
  isScoped,
  type Literal,
  type Path,
  type Program,
} from './syntax.ts';
import { pathText } from './variable-paths.ts';

/** Longer than any name; what is missing is told by its name. */
const MAX_PATH_CHARACTERS = 255;
const DATA = new Set(['root', 'index', 'key', 'first', 'last']);

/** Where in the template we are. */
export interface Scope {
  /** In how many blocks that change `this`. */
  readonly depth: number;
  /** In how many blocks and parentheses. */
  readonly level: number;
  /** Names that blocks have given to their items. */
  readonly blockParams: ReadonlySet<string>;
  /** Variables that have been asked about around here: where they are missing, this place is not reached. */
  readonly asked: readonly string[];
}

/** At the top, outside of every block. */
export const TOP: Scope = { depth: 0, level: 0, blockParams: new Set(), asked: [] };

/** What is named where a variable stands: `{{"odd name"}}` prints the variable of that name. */
export function pathOf(named: Path | Literal): Path {
  if (named.type === 'PathExpression') return named;
  const name = String(named.original);
  return {
    type: 'PathExpression',
    data: false,
    depth: 0,
    parts: [name],
    original: `this.${name}`,
    loc: named.loc,
  };
}

/** The scope of a block's content. */
export function within(block: Block, scope: Scope, isScope: boolean): Scope {
  const inside = isScope || headOf(block.path) === 'if' ? asking(block.params, scope) : scope;
  return isScope ? entered(block.program, inside) : inside;
}

/** The scope behind a block's `{{else}}`. */
export function otherwise(block: Block, scope: Scope): Scope {
  return headOf(block.path) === 'unless' ? asking(block.params, scope) : scope;
}

/** The scope of what is only reached where the answer to these questions is yes. */
export function asking(questions: readonly Expression[], scope: Scope): Scope {
  return { ...scope, asked: [...scope.asked, ...questions.flatMap((question) => askedBy(question, scope))] };
}

/** The scope inside a block that changes what paths start from. */
export function entered(program: Program | undefined, scope: Scope): Scope {
  const names = program?.blockParams ?? [];
  return { ...scope, depth: scope.depth + 1, blockParams: new Set([...scope.blockParams, ...names]) };
}

/** The variables without which the answer to a question is no. */
function askedBy(question: Expression, scope: Scope): string[] {
  if (question.type === 'SubExpression' && headOf(question.path) === 'and')
    return question.params.flatMap((param) => askedBy(param, scope));
  const segments = question.type === 'PathExpression' ? variableOf(question, scope) : undefined;
  return segments === undefined ? [] : [pathText(segments)];
}

/** Whether the variable, or one that it lies in, was asked about around here. */
export function isAsked(segments: readonly string[], { asked }: Scope): boolean {
  return segments.some((_segment, index) => asked.includes(pathText(segments.slice(0, index + 1))));
}

/** The path from the top of the variables; undefined for what a block, and not the call, gives. */
export function variableOf(path: Path, { depth, blockParams }: Scope): readonly string[] | undefined {
  const { parts } = path;
  if (path.data) return parts[0] === 'root' && parts.length > 1 ? parts.slice(1) : undefined;
  const isOwn = path.depth === 0 && !isScoped(path) && blockParams.has(parts[0] ?? '');
  return path.depth === depth && !isOwn && parts.length > 0 ? parts : undefined;
}

/** What is wrong with a path; undefined: nothing. */
export function faultInPath(path: Path, { depth }: Scope): string | undefined {
  if (path.data && !DATA.has(path.parts[0] ?? ''))
    return `\`${shown(path.original)}\` is not known; there are ${[...DATA].map((name) => `\`@${name}\``).join(', ')}`;
  if (!path.data && path.depth > depth)
    return `\`${shown(path.original)}\` climbs above all variables; only \`each\`, \`with\` and \`{{#name}}\` need a \`../\` inside`;
  return path.parts.join('.').length > MAX_PATH_CHARACTERS
    ? `\`${shown(path.original)}\` is longer than ${MAX_PATH_CHARACTERS} characters; give what it names a shorter name`
    : undefined;
}
