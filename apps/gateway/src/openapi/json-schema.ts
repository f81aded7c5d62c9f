import { isDeepStrictEqual } from 'node:util';

/** A class whose fields are described, by `@Required`/`@Optional` (a request) or `@AnswerField` (an answer). */
export type DescribedClass = new () => object;

/** A JSON Schema (draft 2020-12, as in OpenAPI 3.1). */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A choice of request classes. */
export interface DescribedUnion {
  readonly schema: JsonSchema;
  readonly classes: readonly DescribedClass[];
}

const REFERENCE = '#/components/schemas/';

const classes = new Map<string, DescribedClass>();
const others = new Map<string, JsonSchema>();

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

/**
 * A reference to a schema that is not of a class but has a name, too, so that clients can pass on what it describes.
 *
 * @throws Error when another schema has the same name
 */
export function nameSchema(name: string, schema: JsonSchema): JsonSchema {
  const known = others.get(name) ?? schema;
  if (!isDeepStrictEqual(known, schema)) throw new Error(`two schemas of the interface are called ${name}`);
  others.set(name, schema);
  return referenceNamed(name);
}

/** A choice of request classes, with a name. */
export function unionOf(name: string, classes: readonly DescribedClass[]): DescribedUnion {
  return { schema: nameSchema(name, { oneOf: classes.map(referenceTo) }), classes };
}

/** The classes that a body can be of. */
export function classesOf(body: DescribedClass | DescribedUnion | undefined): readonly DescribedClass[] {
  if (body === undefined) return [];
  return 'classes' in body ? body.classes : [body];
}

/** A word's schema with a reference to the schema of those that exist, so that each is described once; any other schema as it is. */
export function withNamedWords(schema: JsonSchema): JsonSchema {
  const { 'x-known-values': known } = schema as { 'x-known-values'?: JsonSchema };
  if (known === undefined) return schema;
  const { title, ...words } = known;
  return { ...schema, 'x-known-values': nameSchema(title as string, words) };
}

/** A reference to the schema of this name. */
export function referenceNamed(name: string): JsonSchema {
  return { $ref: REFERENCE + name };
}

/** The name in a reference; undefined when the schema is none. */
export function referredName({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' ? $ref.slice(REFERENCE.length) : undefined;
}

/** The class that a schema refers to; undefined when it refers to none. */
export function referredClass(schema: JsonSchema): DescribedClass | undefined {
  return classes.get(referredName(schema) ?? '');
}

/** The schema that was given this name; undefined for that of a class. */
export function schemaNamed(name: string): JsonSchema | undefined {
  return others.get(name);
}
