import { describedFields, isAnswerClass, type DescribedField } from './described-fields.ts';
import type { DescribedExample } from './describes.ts';
import {
  type DescribedClass,
  type JsonSchema,
  referredClass,
  referredName,
  schemaNamed,
} from './json-schema.ts';

type Examples = Readonly<Record<string, DescribedExample>>;

/**
 * Generates an example of an answer or a request: from the examples of its fields; for a required field without one, from its
 * schema.
 *
 * @throws Error when a required field has no example at all
 */
function exampleOf(described: DescribedClass): object {
  return exampleOfFields(described, describedFields(described));
}

/** The examples of a request class: one with the required fields only, and one with all fields. */
export function requestExamples(requestClass: DescribedClass): Examples {
  const words = wordsOf(requestClass.name.replace(/Request$/, ''));
  const key = words.join('-');
  const summary = words.join(' ').replace(/^./, (first) => first.toUpperCase());
  const fields = describedFields(requestClass);
  const full = exampleOfFields(requestClass, fields);
  const min = exampleOfFields(
    requestClass,
    fields.filter(({ isRequired }) => isRequired),
  );
  const isApart = ![0, Object.keys(full).length].includes(Object.keys(min).length);
  return {
    [key]: { summary, value: full },
    ...(isApart && { [`${key}-least`]: { summary: `${summary}, with only what is required`, value: min } }),
  };
}

function exampleOfFields(described: DescribedClass, fields: readonly DescribedField[]): object {
  const shown = fields.filter(({ isRequired, example }) => isRequired || example !== undefined);
  return Object.fromEntries(
    shown.map(({ field, example, schema }) => {
      const value = example === undefined ? exampleInSchema(schema) : example;
      if (value === undefined) throw new Error(`${described.name}.${field} needs an example`);
      return [field, value];
    }),
  );
}

function exampleInSchema(schema: JsonSchema): unknown {
  const { examples, enum: words, items, ...composed } = schema as Record<string, unknown[] | undefined>;
  const described = referredClass(schema);
  if (described !== undefined) return exampleOf(described);
  const named = schemaNamed(referredName(schema) ?? '');
  if (named !== undefined) return exampleInSchema(named);
  if (examples !== undefined) return examples[0];
  if (words !== undefined) return words[0];
  if (items !== undefined) return exampleOfItems(items as unknown as JsonSchema);
  const [first] = (composed['anyOf'] ?? composed['oneOf'] ?? composed['allOf'] ?? []) as JsonSchema[];
  return first === undefined ? undefined : exampleInSchema(first);
}

function exampleOfItems(items: JsonSchema): unknown[] | undefined {
  const item = exampleInSchema(items);
  return item === undefined ? undefined : [item];
}

function wordsOf(name: string): string[] {
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/**
 * The only example of an answer class.
 *
 * @param exampleOverrides values that replace those of its fields, by path
 * @throws Error when a path does not exist
 */
export function answerExamples(
  answerClass: DescribedClass,
  exampleOverrides: Readonly<Record<string, unknown>> = {},
): Examples {
  if (!isAnswerClass(answerClass)) throw new Error(`${answerClass.name} shows no fields`);
  const value = Object.entries(exampleOverrides).reduce(
    (example, [path, shown]) => withShown(example, path.split('.'), shown),
    exampleOf(answerClass),
  );
  return { answer: { summary: 'The answer', value } };
}

function withShown(example: object, [name, ...rest]: readonly string[], shown: unknown): object {
  const fields = example as Readonly<Record<string, object>>;
  if (name === undefined || !Object.hasOwn(fields, name)) throw new Error(`no example has ${String(name)}`);
  return { ...fields, [name]: rest.length === 0 ? shown : withShown(fields[name]!, rest, shown) };
}
