import { type CompiledPart, compilePart } from './compile-part.ts';
import { finishedPart, Output, OutputTooLarge } from './output.ts';
import { isFault, parsePart } from './parse-part.ts';
import { PART_NAMES, type PartName, type TemplateParts, type Variables } from './template-parts.ts';
import { withDefaults } from './variable-paths.ts';

const MAX_CACHED = 200;
/** Some 50 MB of the memory of a thread. Its templates' own length says little: 12 kB of tags take megabytes. */
const MAX_CACHED_CODE = 16 * 1_048_576;

/** A version of a template, which never changes. */
export interface TemplateVersionSource {
  /** The key of the cache; unique for each version. */
  readonly id: string;
  readonly parts: TemplateParts;
  /** The values of variables that a call does not give. */
  readonly defaults: Variables;
}

/** The parts of a template, rendered with variables. */
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
  readonly codeCharacters: number;
}

/**
 * A cache (LRU) of compiled versions. Versions never change, so entries are never stale. Not a `LruCache` of the kernel, because the code of a thread imports
 * only files of this library.
 */
export class CompiledTemplates {
  private readonly cache = new Map<string, CompiledTemplate>();
  private readonly maxCode: number;
  private codeCharacters = 0;

  /** @param maxCode how many characters of code are kept */
  constructor(maxCode = MAX_CACHED_CODE) {
    // Not as a parameter property: in tests the threads run this file with its types stripped.
    this.maxCode = maxCode;
  }

  /** @throws OutputTooLarge */
  render(source: TemplateVersionSource, variables: Variables): RenderedTemplate {
    const values = withDefaults(source.defaults, variables);
    definePrimitiveConversion(values);
    const output = new Output();
    const rendered: [PartName, string][] = [];
    for (const [name, part] of this.compiled(source).parts)
      rendered.push([name, renderPart(name, part, values, output)]);
    return Object.fromEntries(rendered) as unknown as RenderedTemplate;
  }

  private compiled(source: TemplateVersionSource): CompiledTemplate {
    const known = this.cache.get(source.id);
    if (known !== undefined) {
      // Moved to the end, so that the first entry is the least recently used one.
      this.cache.delete(source.id);
      this.cache.set(source.id, known);
      return known;
    }
    const template = compile(source.parts);
    this.keep(source.id, template);
    return template;
  }

  private keep(id: string, template: CompiledTemplate): void {
    this.cache.set(id, template);
    this.codeCharacters += template.codeCharacters;
    for (const [oldest, { codeCharacters }] of this.cache) {
      if (this.cache.size <= MAX_CACHED && this.codeCharacters <= this.maxCode) return;
      this.cache.delete(oldest);
      this.codeCharacters -= codeCharacters;
    }
  }
}

/**
 * Gives objects that have a variable named `toString` a safe conversion to primitives. Handlebars compares the context of a block, which may be a
 * text, with its enclosing context by `!=`, and JavaScript would call that variable as a function.
 */
function definePrimitiveConversion(value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  if (Object.hasOwn(value, 'toString'))
    Object.defineProperty(value, Symbol.toPrimitive, { value: () => '[object Object]', configurable: true });
  for (const member of Object.values(value)) definePrimitiveConversion(member);
}

function renderPart(name: PartName, part: CompiledPart, variables: Variables, output: Output): string {
  try {
    return finishedPart(name, part.render(variables, output));
  } catch (error) {
    const { message } = error as Error;
    // V8 throws the same class, RangeError, for a string that is too long and for a stack overflow.
    if (message === 'Invalid string length') throw new OutputTooLarge(`\`${name}\` becomes too long`);
    if (error instanceof OutputTooLarge) throw new OutputTooLarge(`\`${name}\` ${message}`);
    throw error;
  }
}

function compile(parts: TemplateParts): CompiledTemplate {
  const compiled = new Map<PartName, CompiledPart>();
  let codeCharacters = 0;
  for (const name of PART_NAMES) {
    const source = parts[name];
    if (source === undefined) continue;
    const program = parsePart(source);
    if (isFault(program))
      throw new Error(`\`${name}\` of a stored template does not compile: ${program.message}`);
    const part = compilePart(program, { isHtml: name === 'html' });
    compiled.set(name, part);
    codeCharacters += part.codeCharacters;
  }
  return { parts: compiled, codeCharacters };
}
