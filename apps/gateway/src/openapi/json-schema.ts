/** A class whose fields are described, by `@Required`/`@Optional` (a request) or `@Shown` (an answer). */
export type DescribedClass = new () => object;

/** A JSON Schema (draft 2020-12, as OpenAPI 3.1 takes it). */
export type JsonSchema = Readonly<Record<string, unknown>>;

const REFERENCE = '#/components/schemas/';

const classes = new Map<string, DescribedClass>();

/**
 * The schema that stands for a class: a reference, which the document resolves.
 *
 * @throws Error when another class has the same name: in the document the name is all that tells them apart
 */
export function referenceTo(described: DescribedClass): JsonSchema {
  const known = classes.get(described.name) ?? described;
  if (known !== described) throw new Error(`two classes of the interface are called ${described.name}`);
  classes.set(described.name, described);
  return { $ref: REFERENCE + described.name };
}

/** The class that a reference stands for; undefined when the schema is no reference. */
export function referredClass({ $ref }: JsonSchema): DescribedClass | undefined {
  return typeof $ref === 'string' ? classes.get($ref.slice(REFERENCE.length)) : undefined;
}
