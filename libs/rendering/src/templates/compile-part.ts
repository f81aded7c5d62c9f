import Handlebars from 'handlebars';
import { isTruthy } from './comparisons.ts';
import { type Helper, HELPERS } from './helpers.ts';
import { MAX_CHARACTERS, type Output, OutputTooLarge } from './output.ts';
import { valueToText } from './value-to-text.ts';
import { pathOf } from './scope.ts';
import { type Block, isCall, type Mustache, type Path, type Program, type SubExpression } from './syntax.ts';
import type { Variables } from './template-parts.ts';

/** A part that was compiled to JavaScript. */
export interface CompiledPart {
  /** Renders it with these variables. @throws OutputTooLarge */
  readonly render: (variables: Variables, output: Output) => string;
  /** The length of its code, which takes about three bytes of memory for each character. */
  readonly codeCharacters: number;
}

type RenderBlock = (context: unknown, options?: { data?: unknown; blockParams?: unknown[] }) => string;

interface CallOptions {
  readonly hash: Readonly<Record<string, unknown>>;
  readonly data: { readonly output: Output };
  readonly fn?: RenderBlock;
  readonly inverse?: RenderBlock;
}

/** The functions of a compiled part and their data. */
type Code = Readonly<Record<string, unknown>>;

/** The steps of Handlebars' `compile`, which its types omit. */
interface Steps {
  readonly parse: (program: Program) => Program;
  readonly Compiler: new () => { compile(program: Program, options: object): object };
  readonly JavaScriptCompiler: new () => {
    compile(environment: object, options: object, context: undefined, asObject: true): Code;
  };
  readonly template: (code: Code) => (variables: Variables, options: object) => string;
}

/** Internal helpers. No template can call them, because the analysis rejects helpers that are not in `HELPERS`. */
const PRINT = '@print';
const PRINT_ESCAPED = '@print-escaped';
const SECTION = '@section';

const handlebars = Handlebars.create();
const { each } = handlebars.helpers as { each: (this: unknown, list: unknown, options: object) => string };

handlebars.unregisterHelper('log');
handlebars.registerHelper(PRINT, function (value: unknown, { data }: CallOptions) {
  return counted(valueToText(value), data.output);
});
handlebars.registerHelper(PRINT_ESCAPED, function (value: unknown, { data }: CallOptions) {
  return counted(Handlebars.escapeExpression(valueToText(value)), data.output);
});
handlebars.registerHelper('each', boundedEach);
handlebars.registerHelper(SECTION, section);
for (const [name, helper] of HELPERS) handlebars.registerHelper(name, helperOf(helper));

const STEPS = handlebars as unknown as Steps;
const KNOWN_HELPERS = Object.fromEntries(Object.keys(handlebars.helpers).map((name) => [name, true]));

/**
 * Compiles a part that has been analysed without faults.
 *
 * @param program the result of `parsePart`; it is modified
 * @param isHtml whether the output of `{{name}}` is escaped
 */
export function compilePart(program: Program, { isHtml }: { isHtml: boolean }): CompiledPart {
  rewrite(program, isHtml ? PRINT_ESCAPED : PRINT);
  const code = codeOf(program);
  const render = STEPS.template(code);
  // Own properties only. Set explicitly, because otherwise Handlebars logs a warning for each inherited property that a template names.
  const options = { allowProtoPropertiesByDefault: false, allowProtoMethodsByDefault: false };
  return {
    render: (variables, output) => render(variables, { ...options, data: { output } }),
    codeCharacters: lengthOf(code),
  };
}

/** Not by `handlebars.compile`, whose result keeps the syntax tree, too: up to twice as much memory as the code. */
function codeOf(program: Program): Code {
  const options = { knownHelpers: KNOWN_HELPERS, knownHelpersOnly: true, data: true };
  const environment = new STEPS.Compiler().compile(STEPS.parse(program), options);
  return new STEPS.JavaScriptCompiler().compile(environment, options, undefined, true);
}

function lengthOf(code: Code): number {
  const functions = Object.values(code).filter((value) => typeof value === 'function');
  return functions.reduce((sum, one) => sum + one.toString().length, 0);
}

/**
 * Rewrites every tag to a call of one of our helpers: its output is counted and converted to text without calling methods of
 * the value, and a bare name is always a variable, even if a helper has that name.
 */
function rewrite(program: Program | undefined, print: string): void {
  for (const statement of program?.body ?? []) {
    if (statement.type === 'MustacheStatement') rewriteMustache(statement, print);
    if (statement.type !== 'BlockStatement') continue;
    if (!isCall(statement)) rewriteSection(statement);
    rewrite(statement.program, print);
    rewrite(statement.inverse, print);
  }
}

function rewriteMustache(mustache: Mustache, print: string): void {
  const { path, params, hash, loc } = mustache;
  const call: SubExpression = { type: 'SubExpression', path, params, hash, loc };
  mustache.params = [isCall(mustache) ? call : pathOf(path)];
  mustache.hash = undefined;
  mustache.path = word(mustache.escaped ? print : PRINT, path);
  // `PRINT_ESCAPED` escapes.
  mustache.escaped = false;
}

function rewriteSection(block: Block): void {
  block.params = [pathOf(block.path)];
  block.path = word(SECTION, block.path);
}

function word(name: string, { loc }: Mustache['path']): Path {
  return { type: 'PathExpression', data: false, depth: 0, parts: [name], original: name, loc };
}

function counted(text: string, output: Output): string {
  output.spend(text.length);
  return text;
}

function helperOf(helper: Helper) {
  return function (this: unknown, ...all: unknown[]): unknown {
    const options = all.pop() as CallOptions;
    const value = helper.value(all, options.hash);
    if (typeof value === 'string' && value.length > MAX_CHARACTERS) throw new OutputTooLarge();
    if (options.fn === undefined) return value;
    return isTruthy(value) ? options.fn(this) : options.inverse!(this);
  };
}

/** The `each` of Handlebars, with limits on iterations and output. */
function boundedEach(this: unknown, list: unknown, options: CallOptions): string {
  let length = 0;
  const fn: RenderBlock = (item, frame) => {
    options.data.output.countIteration();
    const text = options.fn!(item, frame);
    length += text.length;
    if (length > MAX_CHARACTERS) throw new OutputTooLarge();
    return text;
  };
  return each.call(this, list, { ...options, fn });
}

/** `{{#name}}`: once for each item of a list, otherwise once with the value as `this`; `{{else}}` if it is false or missing. */
function section(this: unknown, value: unknown, options: CallOptions): string {
  if (Array.isArray(value)) return boundedEach.call(this, value, options);
  // As in Handlebars, an empty text and 0 are true here.
  if ((value ?? false) === false) return options.inverse!(this);
  return options.fn!(value === true ? this : value);
}
