import { compilePart } from './compile-part.ts';
import { type Fault, faultOfEncodedTag, isFault, parsePart } from './parse-part.ts';
import { Output } from './output.ts';
import { PART_NAMES, type PartName, type TemplateParts } from './template-parts.ts';
import { PartAnalyser } from './analyse-part.ts';

const MAX_FAULTS_SHOWN = 5;
/** More than any email needs; bounds the list that is stored with a template. */
const MAX_VARIABLES = 1_000;

/** The faults of a template, as sentences that name the part; or the variables that it prints. */
export type TemplateAnalysis =
  | { readonly faults: readonly string[] }
  /** The paths of the variables that a call must give unless they have a default, in the order in which they are first printed. */
  | { readonly printed: readonly string[] };

/**
 * Analyses a template: whether it is valid (Handlebars without partials and decorators, with the block helpers `each`, `if`,
 * `unless` and `with` and the helpers of `HELPERS`), and which variables it prints. A variable in a tag is printed, also as the
 * argument of a helper that prints. As the argument of `if`, `unless`, `each`, `with`, `default` or a comparison, it is only
 * tested; and a printed variable may be missing where an enclosing block tests it. Paths inside of `each` and `with` refer to
 * their items, not to variables of the call.
 *
 * Takes time in proportion to the template, so untrusted templates are analysed in a thread: see `TemplateRenderer`.
 */
export function analyseTemplate(parts: TemplateParts): TemplateAnalysis {
  const faults: string[] = [];
  const printed = new Set<string>();
  for (const name of PART_NAMES) {
    const source = parts[name];
    if (source === undefined) continue;
    const analysis = analysePart(name, source);
    faults.push(...analysis.faults.map((fault) => sentence(name, fault)));
    for (const path of analysis.printed) printed.add(path);
  }
  if (printed.size > MAX_VARIABLES)
    faults.push(
      `the template prints ${printed.size} variables, more than the ${MAX_VARIABLES} allowed; put some into lists`,
    );
  return faults.length > 0 ? { faults: shortened(faults) } : { printed: [...printed] };
}

function analysePart(
  name: PartName,
  source: string,
): { faults: readonly Fault[]; printed: Iterable<string> } {
  const program = parsePart(source);
  if (isFault(program)) return { faults: [program], printed: [] };
  const encoded = name === 'html' ? faultOfEncodedTag(source) : undefined;
  if (encoded !== undefined) return { faults: [encoded], printed: [] };
  const analyser = new PartAnalyser();
  analyser.walk(program);
  if (analyser.faults.length > 0) return analyser;
  // Handlebars compiles at the first rendering. Without variables, this one is short.
  compilePart(program, { isHtml: name === 'html' }).render({}, new Output());
  return analyser;
}

function sentence(name: PartName, { line, column, message }: Fault): string {
  return `\`${name}\`, line ${line}, column ${column}: ${message}`;
}

function shortened(faults: readonly string[]): string[] {
  if (faults.length <= MAX_FAULTS_SHOWN) return [...faults];
  return [...faults.slice(0, MAX_FAULTS_SHOWN), `and ${faults.length - MAX_FAULTS_SHOWN} more faults`];
}
