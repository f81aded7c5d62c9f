import { Refusal } from '@posthorn/kernel';
import type { Size } from '@posthorn/domain';
import { strictFaultOf } from '@posthorn/platform';
import type { JsonSchema } from '../openapi/json-schema.ts';
import { isJsonObject, kindOf, makeRule, type Rule } from './rule.ts';
import { sizeFault } from './sizes.ts';

/** The longest line of a message (RFC 5322, section 2.1.1), and so of any address. */
const MAX_ADDRESS_CHARACTERS = 998;

/** An array of 1 to `size.max` items, each of which is validated and answered by itself. */
export function batchOf(nouns: string, size: Size, items: JsonSchema): Rule {
  const schema = { type: 'array', items, minItems: 1, maxItems: size.max };
  return makeRule(schema, (value, field) => {
    if (!Array.isArray(value)) return `\`${field}\` is ${kindOf(value)}; give an array of ${nouns}`;
    if (value.length === 0) return `\`${field}\` is empty; give 1 to ${size.max} ${nouns}`;
    const fault = sizeFault(value.length, size);
    return fault && `\`${field}\` ${fault}; send the others in another batch`;
  });
}

/** The refusal of a batch that is missing or no object, such as a bare array of its items. */
export function noBatch(nouns: string, { max }: Size): Refusal {
  return new Refusal(
    400,
    `The body must be a JSON object with \`${nouns}\`, an array of 1 to ${max} ${nouns}`,
  );
}

/** The validated item, or its refusal: by the parser, which keeps a fault for each item, or by `validate`. */
export function validateItem<Validated>(
  item: unknown,
  validate: (item: unknown) => Validated,
): Validated | Refusal {
  try {
    return strictFaultOf(item) ?? validate(item);
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
}

/** The address in a field of an item as the caller wrote it; null when it is no string, cannot be an address, or is one that many parsers refuse in JSON. */
export function addressOfItem(item: unknown, field: string): string | null {
  const address = isJsonObject(item) ? item[field] : undefined;
  if (typeof address !== 'string' || address.length > MAX_ADDRESS_CHARACTERS) return null;
  return address.isWellFormed() && !address.includes('\0') ? address : null;
}
