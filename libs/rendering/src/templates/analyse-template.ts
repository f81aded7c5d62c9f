import { compilePart } from './compile-part.ts';
import { type Fault, isFault, parsePart } from './parse-part.ts';
import { Output } from './output.ts';
import { PART_NAMES, type PartName, type TemplateParts } from './template-parts.ts';
import { PartWalk } from './walk-part.ts';

const MAX_FAULTS_SHOWN = 5;
/** More than anybody gives to an email, and what a template keeps of them is bounded. */
const MAX_VARIABLES = 1_000;

/** Why a template cannot be used, as sentences that name the part; or the variables that it prints. */
export type TemplateAnalysis =
  | { readonly faults: readonly string[] }
  /** The paths that a call must give unless they have a default, in the order in which they are first printed. */
  | { readonly printed: readonly string[] };

/**
 * Judges a template: whether it is in the language (Handlebars without partials and decorators, with the block helpers
 * `each`, `if`, `unless` and `with` and the helpers of `HELPERS`), and what it prints. A variable is printed where it stands
 * in a tag, also as the argument of a helper that prints. It is only asked about as what `if`, `unless`, `each`, `with` or a
 * comparison is about, or in `default`; and it need not be there where a block around it asks about it. What stands inside
 * of `each` and `with` belongs to their items, not to the call.
 *
 * Takes time in proportion to the template, so strangers' templates are judged in a thread: see `TemplateRenderer`.
 */
export function analyseTemplate(parts: TemplateParts): TemplateAnalysis {
  const faults: string[] = [];
  const printed = new Set<string>();
  for (const name of PART_NAMES) {
    const source = parts[name];
    if (source === undefined) continue;
    const judged = analysePart(name, source);
    faults.push(...judged.faults.map((fault) => sentence(name, fault)));
    for (const path of judged.printed) printed.add(path);
  }
  if (printed.size > MAX_VARIABLES)
    faults.push(
      `the template prints ${printed.size} variables, more than the ${MAX_VARIABLES} that are possible; put some into lists`,
    );
  return faults.length > 0 ? { faults: shortened(faults) } : { printed: [...printed] };
}

function analysePart(
  name: PartName,
  source: string,
): { faults: readonly Fault[]; printed: Iterable<string> } {
  const program = parsePart(source);
  if (isFault(program)) return { faults: [program], printed: [] };
  const walk = new PartWalk();
  walk.walk(program);
  if (walk.faults.length > 0) return walk;
  // Compiled when it is first used; with nothing given there is nothing to go through.
  compilePart(program, { isHtml: name === 'html' })({}, new Output());
  return walk;
}

function sentence(name: PartName, { line, column, message }: Fault): string {
  return `\`${name}\`, line ${line}, column ${column}: ${message}`;
}

function shortened(faults: readonly string[]): string[] {
  if (faults.length <= MAX_FAULTS_SHOWN) return [...faults];
  return [...faults.slice(0, MAX_FAULTS_SHOWN), `and ${faults.length - MAX_FAULTS_SHOWN} more faults`];
}
