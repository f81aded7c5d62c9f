import { idFromUuid, type Id } from '@posthorn/kernel';
import type { JsonObject } from '../canonical-json.ts';

/** The JSON Schema (draft 2020-12), an example and the type of a value, in one definition. */
export interface Shape<Value> {
  readonly schema: JsonObject;
  readonly example: Value;
}

/** The type of the values of a shape. */
export type ValueOf<Of> = Of extends Shape<infer Value> ? Value : never;

type Fields = Readonly<Record<string, Shape<unknown>>>;
type ValuesOf<Of extends Fields> = { readonly [Field in keyof Of]: ValueOf<Of[Field]> };

const EXAMPLE_UUID = '0197b3c2-4d5e-7f60-8a9b-0c1d2e3f4a5b';
const EXAMPLE_TIME = '2030-01-31T09:30:00.000Z';

/** An id with this prefix, followed by 26 characters of base 32: 130 bits, of which the first two are zero. */
export function idShape<Prefix extends string>(prefix: Prefix, description: string): Shape<Id<Prefix>> {
  const pattern = `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`;
  return { schema: { type: 'string', pattern, description }, example: idFromUuid(prefix, EXAMPLE_UUID) };
}

/** A point in time: ISO 8601, UTC, with milliseconds. */
export function timeShape(description: string): Shape<string> {
  const pattern = '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$';
  return { schema: { type: 'string', format: 'date-time', pattern, description }, example: EXAMPLE_TIME };
}

/** Any text. */
export function textShape(description: string, example: string): Shape<string> {
  return { schema: { type: 'string', description }, example };
}

/** A whole number. */
export function numberShape(description: string, example: number): Shape<number> {
  return { schema: { type: 'integer', description }, example };
}

/**
 * One of these words. More may be added, so the schema takes any: a client that validates what it gets must not refuse a new one. `x-known-values` has the schema of those that exist.
 *
 * @param title the name of that schema, unique among all schemas
 */
export function wordShape<Word extends string>(
  title: string,
  words: readonly Word[],
  description: string,
  example: Word,
): Shape<Word> {
  const known = { title, type: 'string', enum: words };
  const examples = [example, ...words.filter((word) => word !== example)];
  return { schema: { 'type': 'string', 'x-known-values': known, description, examples }, example };
}

/** A description that says what each of these words means. */
export function meaningsOf(words: Readonly<Record<string, string>>): string {
  return Object.entries(words)
    .map(([word, meaning]) => `\`${word}\`: ${meaning}.`)
    .join(' ');
}

/** Exactly one of these words: which one decides what is beside it. */
export function tagShape<Word extends string>(
  words: readonly [Word, ...Word[]],
  description: string,
): Shape<Word> {
  return { schema: { type: 'string', enum: words, description }, example: words[0] };
}

/** An object with any keys and any JSON as values. */
export function anyObjectShape(description: string, example: JsonObject): Shape<JsonObject> {
  return { schema: { type: 'object', additionalProperties: true, description }, example };
}

/**
 * An object with these fields. The schema allows others too, because it describes output: fields may be added later.
 *
 * @param title its name, unique among all schemas
 * @param optional fields that can be absent; they are not in the example
 */
export function objectShape<
  Required extends Fields,
  Optional extends Fields = Readonly<Record<never, never>>,
>(
  title: string,
  description: string,
  required: Required,
  optional?: Optional,
): Shape<ValuesOf<Required> & Partial<ValuesOf<Optional>>> {
  const fields = Object.entries<Shape<unknown>>({ ...required, ...optional });
  const example = Object.entries(required).map(([field, shape]) => [field, shape.example]);
  return {
    schema: {
      title,
      type: 'object',
      description,
      properties: Object.fromEntries(fields.map(([field, { schema }]) => [field, schema])),
      required: Object.keys(required),
    },
    example: Object.fromEntries(example) as ValuesOf<Required> & Partial<ValuesOf<Optional>>,
  };
}
