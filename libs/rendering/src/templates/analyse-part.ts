import { type Helper, HELPERS, type LiteralRule } from './helpers.ts';
import { type Fault, shown } from './parse-part.ts';
import {
  type Block,
  type Expression,
  headOf,
  isCall,
  isWord,
  type Mustache,
  type Path,
  type SourceLocation,
  type Program,
} from './syntax.ts';
import {
  withTested,
  itemScope,
  faultInPath,
  isTested,
  elseScope,
  pathOf,
  type Scope,
  TOP,
  variableOf,
  contentScope,
} from './scope.ts';
import { pathText } from './variable-paths.ts';
import { argumentCount, BLOCKS, type Call, FORBIDDEN, unknownHelper } from './vocabulary.ts';

const MAX_LEVELS = 100;

type Use = 'printed' | 'tested';

/** Visits the syntax tree of a part once, and collects its faults and the variables that it prints. */
export class PartAnalyser {
  readonly faults: Fault[] = [];
  /** The paths of the printed variables, in the order of their first use. */
  readonly printed = new Set<string>();

  /** @param program the result of `parsePart` */
  walk(program: Program): void {
    this.program(program, TOP);
  }

  private program(program: Program | undefined, scope: Scope): void {
    for (const statement of program?.body ?? []) {
      switch (statement.type) {
        case 'MustacheStatement':
          this.mustache(statement, scope);
          break;
        case 'BlockStatement':
          this.block(statement, scope);
          break;
        case 'ContentStatement':
        case 'CommentStatement':
          break;
        case 'PartialStatement':
        case 'PartialBlockStatement':
        case 'Decorator':
        case 'DecoratorBlock':
          this.fault(statement.loc, FORBIDDEN[statement.type]);
      }
    }
  }

  private mustache(mustache: Mustache, scope: Scope): void {
    if (isCall(mustache)) return this.call(mustache, scope, 'printed');
    this.expression(pathOf(mustache.path), scope, 'printed');
  }

  private block(block: Block, outer: Scope): void {
    if (block.openStrip.open === undefined)
      return this.fault(
        block.loc,
        'raw blocks (`{{{{name}}}}`) are not supported; write `\\{{` to show braces as they are',
      );
    const scope = this.deeper(block.loc, outer);
    if (scope === undefined) return;
    if (namesItems(block) && !['each', 'with'].includes(headOf(block.path)))
      return this.fault(block.loc, 'only `each` and `with` can name their items (`as |item|`); remove it');
    if (!isCall(block)) return this.section(block, scope);
    const builtIn = isWord(block.path) ? BLOCKS.get(headOf(block.path)) : undefined;
    if (builtIn === undefined) this.call(block, scope, 'tested');
    else this.builtIn(block, scope, builtIn);
    this.program(block.program, contentScope(block, scope, builtIn?.isScope ?? false));
    this.program(block.inverse, elseScope(block, scope));
  }

  /** `{{#name}}…{{/name}}`: once for each item of a list, otherwise once with the value as `this`; `{{else}}` if it is false or missing. */
  private section(block: Block, scope: Scope): void {
    const name = headOf(block.path);
    if (isWord(block.path) && BLOCKS.has(name))
      return this.fault(block.loc, `\`${name}\` needs what it is about: \`{{#${name} something}}\``);
    const path = pathOf(block.path);
    this.expression(path, scope, 'tested');
    this.program(block.program, itemScope(withTested([path], scope)));
    this.program(block.inverse, scope);
  }

  private builtIn(block: Block, scope: Scope, { options }: { options: readonly string[] }): void {
    const name = headOf(block.path);
    if (block.params.length !== 1)
      this.fault(
        block.loc,
        `\`${name}\` takes exactly one argument, not ${block.params.length}; put a question into parentheses: \`{{#${name} (eq a b)}}\``,
      );
    for (const { key, value, loc } of block.hash?.pairs ?? []) {
      if (!options.includes(key)) this.fault(loc, `\`${name}\` has no option \`${shown(key)}\`; remove it`);
      this.expression(value, scope, 'tested');
    }
    for (const param of block.params) this.expression(param, scope, 'tested');
  }

  private call(call: Call, scope: Scope, use: Use): void {
    const name = headOf(call.path);
    const helper = isWord(call.path) ? HELPERS.get(name) : undefined;
    if (helper === undefined) return this.fault(call.loc, unknownHelper(name, call));
    if (call.type === 'BlockStatement' && !helper.isCondition)
      return this.fault(call.loc, `\`${name}\` gives a text and opens no block; write \`${helper.usage}\``);
    const { length } = call.params;
    if (length < helper.min || length > helper.max)
      return this.fault(
        call.loc,
        `\`${name}\` takes ${argumentCount(helper)}, not ${length}; write \`${helper.usage}\``,
      );
    this.arguments(call, helper, scope, helper.takes === 'printed' ? use : 'tested');
  }

  private arguments(call: Call, helper: Helper, scope: Scope, use: Use): void {
    const name = headOf(call.path);
    call.params.forEach((param, index) => {
      this.literal(param, helper.literals?.[index], `argument ${index + 1} of \`${name}\``);
      this.expression(param, scope, use);
    });
    for (const { key, value, loc } of call.hash?.pairs ?? []) {
      const rule = helper.options && Object.hasOwn(helper.options, key) ? helper.options[key] : undefined;
      if (rule === undefined)
        this.fault(loc, `\`${name}\` has no option \`${shown(key)}\`; write \`${helper.usage}\``);
      this.literal(value, rule, `\`${shown(key)}\` of \`${name}\``);
      this.expression(value, scope, use);
    }
  }

  private literal(value: Expression, rule: LiteralRule | undefined, what: string): void {
    if (rule === undefined || value.type === 'PathExpression' || value.type === 'SubExpression') return;
    const fault = rule(value.value);
    if (fault !== undefined) this.fault(value.loc, `${what} ${fault}`);
  }

  private expression(expression: Expression, scope: Scope, use: Use): void {
    if (expression.type === 'PathExpression') return this.path(expression, scope, use);
    if (expression.type !== 'SubExpression') return;
    const deeper = this.deeper(expression.loc, scope);
    if (deeper !== undefined) this.call(expression, deeper, use);
  }

  private path(path: Path, scope: Scope, use: Use): void {
    const fault = faultInPath(path, scope);
    if (fault !== undefined) return this.fault(path.loc, fault);
    const segments = variableOf(path, scope);
    if (use === 'printed' && segments !== undefined && !isTested(segments, scope))
      this.printed.add(pathText(segments));
  }

  private deeper(loc: SourceLocation, scope: Scope): Scope | undefined {
    if (scope.level < MAX_LEVELS) return { ...scope, level: scope.level + 1 };
    this.fault(
      loc,
      `blocks and parentheses stand more than ${MAX_LEVELS} deep in each other here; make it flatter`,
    );
    return undefined;
  }

  private fault({ start }: SourceLocation, message: string): void {
    this.faults.push({ line: start.line, column: start.column + 1, message });
  }
}

function namesItems({ program, inverse }: Block): boolean {
  return (program?.blockParams ?? inverse?.blockParams) !== undefined;
}
