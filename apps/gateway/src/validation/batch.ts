import { Refusal } from '@posthorn/kernel';
import type { Size } from '@posthorn/domain';
import { strictFaultOf } from '@posthorn/platform';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { isJsonObject, kindOf, makeRule, type Rule } from './rule.ts';
import { sizeFault } from './sizes.ts';

/** A line of a message (RFC 5322, section 2.1.1): no address is longer. */
const MAX_ADDRESS_CHARACTERS = 998;

/** An array of 1 to `size.most` items, each of which is judged by itself, and answered by itself. */
export function batchOf(nouns: string, size: Size, items: JsonSchema): Rule {
  const schema = { type: 'array', items, minItems: 1, maxItems: size.max };
  return makeRule(schema, (value, field) => {
    if (!Array.isArray(value)) return `\`${field}\` is ${kindOf(value)}; give an array of ${nouns}`;
    if (value.length === 0) return `\`${field}\` is empty; give 1 to ${size.max} ${nouns}`;
    const fault = sizeFault(value.length, size);
    return fault && `\`${field}\` ${fault}; send the others in another batch`;
  });
}

/** What is said of a batch that is missing or is no object: of an array of its items, for example. */
export function noBatch(nouns: string, { max }: Size): Refusal {
  return new Refusal(
    400,
    `The body must be a JSON object with \`${nouns}\`, an array of 1 to ${max} ${nouns}`,
  );
}

/** What judging an item gives, or what it is refused with: by the parser, which judges each item by itself, or by the judge. */
export function judgedItem<Judged>(item: unknown, judge: (item: unknown) => Judged): Judged | Refusal {
  try {
    return strictFaultOf(item) ?? judge(item);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The address in a field of an item as its caller wrote it; null when it is no text, or none that could be one. */
export function addressOfItem(item: unknown, field: string): string | null {
  const address = isJsonObject(item) ? item[field] : undefined;
  return typeof address === 'string' && address.length <= MAX_ADDRESS_CHARACTERS ? address : null;
}
