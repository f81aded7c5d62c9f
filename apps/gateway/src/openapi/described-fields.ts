import { shapeOf } from '../validation/shape.ts';
import type { DescribedClass, JsonSchema } from './json-schema.ts';
import { answerFieldsOf } from './answer-field.ts';

/** The description of a field of a request or an answer. */
export interface DescribedField {
  readonly field: string;
  readonly isRequired: boolean;
  readonly sentence: string;
  readonly schema: JsonSchema;
  /** Undefined: none. */
  readonly example: unknown;
  readonly default: unknown;
}

/** Whether a class is an answer class rather than a request class. */
export function isAnswerClass(described: DescribedClass): boolean {
  return answerFieldsOf(described).length > 0;
}

/** The fields of a request or answer class. @throws Error when it has none */
export function describedFields(described: DescribedClass): DescribedField[] {
  return isAnswerClass(described) ? fieldsOfAnswer(described) : fieldsOfRequest(described);
}

function fieldsOfAnswer(answerClass: DescribedClass): DescribedField[] {
  return answerFieldsOf(answerClass).map(({ optional, field, sentence, schema, example }) => ({
    field,
    sentence,
    schema,
    example,
    isRequired: optional !== true,
    default: undefined,
  }));
}

/** The value of a field in a new instance is its default. */
function fieldsOfRequest(requestClass: DescribedClass): DescribedField[] {
  const fresh = new requestClass() as Readonly<Record<string, unknown>>;
  return shapeOf(requestClass).fields.map(({ field, rule, description }) => ({
    field,
    isRequired: description.isRequired,
    sentence: description.sentence,
    schema: rule.schema,
    example: description.example,
    default: description.default ?? fresh[field],
  }));
}
