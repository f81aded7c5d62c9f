/** A class whose fields are described, by `@Required`/`@Optional` (a request) or `@AnswerField` (an answer). */
export type DescribedClass = new () => object;

/** A JSON Schema (draft 2020-12, as in OpenAPI 3.1). */
export type JsonSchema = Readonly<Record<string, unknown>>;

const REFERENCE = '#/components/schemas/';

const classes = new Map<string, DescribedClass>();

/**
 * A reference to the schema of a class.
 *
 * @throws Error when another class has the same name, which would be ambiguous in the document
 */
export function referenceTo(described: DescribedClass): JsonSchema {
  const known = classes.get(described.name) ?? described;
  if (known !== described) throw new Error(`two classes of the interface are called ${described.name}`);
  classes.set(described.name, described);
  return referenceNamed(described.name);
}

/** A reference to the schema of this name. */
export function referenceNamed(name: string): JsonSchema {
  return { $ref: REFERENCE + name };
}

/** The class that a schema refers to; undefined when it is no reference. */
export function referredClass({ $ref }: JsonSchema): DescribedClass | undefined {
  return typeof $ref === 'string' ? classes.get($ref.slice(REFERENCE.length)) : undefined;
}
