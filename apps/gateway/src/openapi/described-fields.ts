import { shapeOf } from '../validation/shape.ts';
import type { DescribedClass, JsonSchema } from './json-schema.ts';
import { shownFields } from './shown.ts';

/** A field of a request or an answer, as the document needs to know it. */
export interface DescribedField {
  readonly field: string;
  readonly isRequired: boolean;
  readonly sentence: string;
  readonly schema: JsonSchema;
  /** Undefined: none is given. */
  readonly example: unknown;
  readonly default: unknown;
}

/** Whether a class describes an answer; any other is a request. */
export function isAnswerClass(described: DescribedClass): boolean {
  return shownFields(described).length > 0;
}

/** The fields of a request or answer class. @throws Error when it has none */
export function describedFields(described: DescribedClass): DescribedField[] {
  return isAnswerClass(described) ? fieldsOfAnswer(described) : fieldsOfRequest(described);
}

function fieldsOfAnswer(answerClass: DescribedClass): DescribedField[] {
  return shownFields(answerClass).map(({ optional, field, sentence, schema, example }) => ({
    field,
    sentence,
    schema,
    example,
    isRequired: optional !== true,
    default: undefined,
  }));
}

/** A field that has a value in a new instance has that value when it is absent. */
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
