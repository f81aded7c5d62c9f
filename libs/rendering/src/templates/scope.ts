import { shown } from './parse-part.ts';
import { type Block, type Expression, headOf, type Literal, type Path } from './syntax.ts';
import { pathText } from './variable-paths.ts';

/** Bounds faults about missing variables, which contain their paths. */
const MAX_PATH_CHARACTERS = 255;
const DATA = new Set(['root', 'index', 'key', 'first', 'last']);
/** Handlebars takes them for letters of a name: what stands in them would be a variable that nobody gives, and would print nothing. */
const TYPOGRAPHIC_QUOTE = /^[“”„‟‘’‚‛«»‹›]/;

/** The context of a node of the syntax tree. */
export interface Scope {
  /** The number of enclosing blocks that change `this`. */
  readonly depth: number;
  /** The number of enclosing blocks and parentheses. */
  readonly level: number;
  /** Variables that enclosing blocks test: if one is missing, this node is not rendered. */
  readonly tested: readonly string[];
}

/** The scope outside of all blocks. */
export const TOP: Scope = { depth: 0, level: 0, tested: [] };

/** A literal in the position of a variable, as a path: `{{"odd name"}}` prints the variable of that name. */
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
export function contentScope(block: Block, scope: Scope, isScope: boolean): Scope {
  const inside = isScope || headOf(block.path) === 'if' ? withTested(block.params, scope) : scope;
  return isScope ? itemScope(inside) : inside;
}

/** The scope of a block's `{{else}}`. */
export function elseScope(block: Block, scope: Scope): Scope {
  return headOf(block.path) === 'unless' ? withTested(block.params, scope) : scope;
}

/** The scope of nodes that are rendered only if these conditions are true. */
export function withTested(conditions: readonly Expression[], scope: Scope): Scope {
  return {
    ...scope,
    tested: [...scope.tested, ...conditions.flatMap((condition) => testedBy(condition, scope))],
  };
}

/** The scope inside a block that changes `this`. */
export function itemScope(scope: Scope): Scope {
  return { ...scope, depth: scope.depth + 1 };
}

/** The variables without which a condition is false. */
function testedBy(condition: Expression, scope: Scope): string[] {
  if (condition.type === 'SubExpression' && headOf(condition.path) === 'and')
    return condition.params.flatMap((param) => testedBy(param, scope));
  const segments = condition.type === 'PathExpression' ? variableOf(condition, scope) : undefined;
  return segments === undefined ? [] : [pathText(segments)];
}

/** Whether enclosing blocks test the variable, or an object that contains it. */
export function isTested(segments: readonly string[], { tested }: Scope): boolean {
  return segments.some((_segment, index) => tested.includes(pathText(segments.slice(0, index + 1))));
}

/** The path of a variable of the call; undefined if the path refers to an item of a block instead. */
export function variableOf(path: Path, { depth }: Scope): readonly string[] | undefined {
  const { parts } = path;
  if (path.data) return parts[0] === 'root' && parts.length > 1 ? parts.slice(1) : undefined;
  return path.depth === depth && parts.length > 0 ? parts : undefined;
}

/** The fault of a path; undefined: none. */
export function faultInPath(path: Path, { depth }: Scope): string | undefined {
  if (TYPOGRAPHIC_QUOTE.test(path.original))
    return `\`${shown(path.original)}\` begins with a typographic quote; write straight ones, as in \`"friend"\``;
  if (path.data && !DATA.has(path.parts[0] ?? ''))
    return `\`${shown(path.original)}\` is not known; there are ${[...DATA].map((name) => `\`@${name}\``).join(', ')}`;
  if (!path.data && path.depth > depth)
    return `\`${shown(path.original)}\` climbs above all variables; only \`each\`, \`with\` and \`{{#name}}\` need a \`../\` inside`;
  return path.parts.join('.').length > MAX_PATH_CHARACTERS
    ? `\`${shown(path.original)}\` is longer than ${MAX_PATH_CHARACTERS} characters; give what it names a shorter name`
    : undefined;
}
