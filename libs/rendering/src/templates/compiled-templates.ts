import { type CompiledPart, compilePart } from './compile-part.ts';
import { finishedPart, Output, OutputTooLarge } from './output.ts';
import { isFault, parsePart } from './parse-part.ts';
import { PART_NAMES, type PartName, type TemplateParts, type Variables } from './template-parts.ts';
import { withDefaults } from './variable-paths.ts';

const MAX_CACHED = 200;
const MAX_CACHED_CHARACTERS = 8 * 1_048_576;

/** A version of a template, which never changes. */
export interface TemplateVersionSource {
  /** By which it is known again; two versions never have the same. */
  readonly id: string;
  readonly parts: TemplateParts;
  /** What a variable is when a call does not give it. */
  readonly defaults: Variables;
}

/** What a template says with variables. */
export interface RenderedTemplate {
  /** One line. */
  readonly subject: string;
  readonly html: string;
  /** Absent where the template has none. */
  readonly text?: string;
  /** One line; absent where the template has none. */
  readonly previewText?: string;
}

interface CompiledTemplate {
  readonly parts: ReadonlyMap<PartName, CompiledPart>;
  readonly characters: number;
}

/** The versions that were used last, compiled. They never change, so what is kept is never stale. */
export class CompiledTemplates {
  private readonly kept = new Map<string, CompiledTemplate>();
  private characters = 0;

  /** @throws OutputTooLarge */
  render(source: TemplateVersionSource, variables: Variables): RenderedTemplate {
    const filled = withDefaults(source.defaults, variables);
    makeComparable(filled);
    const output = new Output();
    const rendered: [PartName, string][] = [];
    for (const [name, part] of this.compiled(source).parts)
      rendered.push([name, renderPart(name, part, filled, output)]);
    return Object.fromEntries(rendered) as unknown as RenderedTemplate;
  }

  private compiled(source: TemplateVersionSource): CompiledTemplate {
    const known = this.kept.get(source.id);
    if (known !== undefined) {
      // To the end: the first is the one that was not used for the longest time.
      this.kept.delete(source.id);
      this.kept.set(source.id, known);
      return known;
    }
    const template = compile(source.parts);
    this.keep(source.id, template);
    return template;
  }

  private keep(id: string, template: CompiledTemplate): void {
    this.kept.set(id, template);
    this.characters += template.characters;
    for (const [oldest, { characters }] of this.kept) {
      if (this.kept.size <= MAX_CACHED && this.characters <= MAX_CACHED_CHARACTERS) return;
      this.kept.delete(oldest);
      this.characters -= characters;
    }
  }
}

/**
 * Lets objects be compared that have a variable `toString`: the engine compares what a block is about, a text perhaps, with the object that it
 * stands in, and the language would call that variable.
 */
function makeComparable(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, 'toString'))
    Object.defineProperty(value, Symbol.toPrimitive, { value: () => '[object Object]', configurable: true });
  for (const member of Object.values(value)) makeComparable(member);
}

function renderPart(name: PartName, part: CompiledPart, variables: Variables, output: Output): string {
  try {
    return finishedPart(name, part(variables, output));
  } catch (error) {
    const { message } = error as Error;
    // V8 says a text that is longer than it can hold with a RangeError, as it does a stack that overflows.
    if (message === 'Invalid string length') throw new OutputTooLarge(`\`${name}\` becomes too long`);
    if (error instanceof OutputTooLarge) throw new OutputTooLarge(`\`${name}\` ${message}`);
    throw error;
  }
}

function compile(parts: TemplateParts): CompiledTemplate {
  const compiled = new Map<PartName, CompiledPart>();
  let characters = 0;
  for (const name of PART_NAMES) {
    const source = parts[name];
    if (source === undefined) continue;
    characters += source.length;
    const program = parsePart(source);
    if (isFault(program))
      throw new Error(`\`${name}\` of a stored template does not compile: ${program.message}`);
    compiled.set(name, compilePart(program, { isHtml: name === 'html' }));
  }
  return { parts: compiled, characters };
}
