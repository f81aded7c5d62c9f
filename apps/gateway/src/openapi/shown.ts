import type { DescribedClass, JsonSchema } from './json-schema.ts';

export interface ShownTraits {
  /**
   * What the field holds in the document's examples. Not needed where the schema has examples or is another class; an
   * optional field without one is left out of them.
   */
  readonly example?: unknown;
  /** The field can be absent; the sentence says when. */
  readonly optional?: true;
}

/** A field of an answer, as the document describes it. */
export interface ShownField extends ShownTraits {
  readonly field: string;
  readonly sentence: string;
  readonly schema: JsonSchema;
}

const fieldsOfClass = new WeakMap<object, ShownField[]>();

/** A field of an answer class. The schema is made of the pieces of `answer-schemas.ts`. */
export function Shown(sentence: string, schema: JsonSchema, traits: ShownTraits = {}): PropertyDecorator {
  return (prototype, property) => {
    const fields = fieldsOfClass.get(prototype) ?? [];
    fields.push({ field: property as string, sentence, schema, ...traits });
    fieldsOfClass.set(prototype, fields);
  };
}

/**
 * The fields of an answer class, those of the class that it extends first; one that it shows anew is in the place of the inherited one. None
 * when it is no answer class.
 */
export function shownFields(answerClass: DescribedClass): ShownField[] {
  const fields: ShownField[] = [];
  for (
    let prototype = answerClass.prototype as object | null;
    prototype !== null;
    prototype = Object.getPrototypeOf(prototype) as object | null
  ) {
    fields.unshift(...(fieldsOfClass.get(prototype) ?? []));
  }
  return [...new Map(fields.map((shown) => [shown.field, shown])).values()];
}
