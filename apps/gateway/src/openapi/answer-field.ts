import { meaningsOf, type Shape } from '@posthorn/domain';
import { wordOf } from './answer-schemas.ts';
import { type DescribedClass, type JsonSchema, withNamedWords } from './json-schema.ts';

interface AnswerFieldTraits {
  /**
   * The field's value in the examples. Not needed where the schema has examples or is another class; examples omit optional fields
   * without one.
   */
  readonly example?: unknown;
  /** The field can be absent; its description says when. */
  readonly optional?: true;
}

/** The description of a field of an answer. */
interface DescribedAnswerField extends AnswerFieldTraits {
  readonly field: string;
  readonly sentence: string;
  readonly schema: JsonSchema;
}

const fieldsOfClass = new WeakMap<object, DescribedAnswerField[]>();

/** Describes a field of an answer class. Compose the schema from `answer-schemas.ts`. */
export function AnswerField(
  sentence: string,
  schema: JsonSchema,
  traits: AnswerFieldTraits = {},
): PropertyDecorator {
  return (prototype, property) => {
    const fields = fieldsOfClass.get(prototype) ?? [];
    fields.push({ field: property as string, sentence, schema, ...traits });
    fieldsOfClass.set(prototype, fields);
  };
}

/** Describes a field that is one of these words, by what each of them means. @param name of the schema of these words */
export function AnswerWord(
  name: string,
  words: Readonly<Record<string, string>>,
  traits: AnswerFieldTraits = {},
): PropertyDecorator {
  return AnswerField(meaningsOf(words), wordOf(name, Object.keys(words)), traits);
}

/**
 * A base class for the answer class with the fields of a shape of the domain.
 *
 * @param example its values in the examples
 */
export function answerOfShape<Value extends object>(
  { schema }: Shape<Value>,
  example: Partial<Value>,
): new () => Value {
  class Described {}
  const { properties, required } = schema as unknown as {
    readonly properties: Readonly<Record<string, JsonSchema & { readonly description: string }>>;
    readonly required: readonly string[];
  };
  for (const [field, { description, ...rest }] of Object.entries(properties)) {
    const traits = {
      example: example[field as keyof Value],
      ...(!required.includes(field) && { optional: true as const }),
    };
    AnswerField(description, withNamedWords(rest), traits)(Described.prototype, field);
  }
  return Described as new () => Value;
}

/**
 * The fields of an answer class, inherited ones first; a redeclared field replaces the inherited one, in its place. Empty for any other class.
 */
export function answerFieldsOf(answerClass: DescribedClass): DescribedAnswerField[] {
  const fields: DescribedAnswerField[] = [];
  for (
    let prototype = answerClass.prototype as object | null;
    prototype !== null;
    prototype = Object.getPrototypeOf(prototype) as object | null
  ) {
    fields.unshift(...(fieldsOfClass.get(prototype) ?? []));
  }
  return [...new Map(fields.map((shown) => [shown.field, shown])).values()];
}
