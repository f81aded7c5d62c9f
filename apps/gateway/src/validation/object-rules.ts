import { JSON_LEVELS, type Size } from '@posthorn/domain';
import { referenceTo } from '../openapi/json-schema.ts';
import { isJsonObject, kindOf, makeRule, type Rule } from './rule.ts';
import { faultsInFields, shapeOf } from './shape.ts';
import { bytesIn, sizeFault } from './sizes.ts';
import { faultsInUnknown } from './unknown-fields.ts';

/** `true` or `false`, and no strings or numbers in their place. */
export const flag: Rule = makeRule({ type: 'boolean' }, (value, field) =>
  typeof value === 'boolean' ? undefined : `\`${field}\` is ${kindOf(value)}; give \`true\` or \`false\``,
);

/** A whole number as JSON writes one, from `min` to `max`. */
export function integer({ min, max }: { readonly min: number; readonly max: number }): Rule {
  const mend = `give a whole number from ${min} to ${max}`;
  return makeRule({ type: 'integer', minimum: min, maximum: max }, (value, field) => {
    if (typeof value !== 'number') return `\`${field}\` is ${kindOf(value)}; ${mend}`;
    const isWithin = Number.isInteger(value) && value >= min && value <= max;
    return isWithin ? undefined : `\`${field}\` is ${value}; ${mend}`;
  });
}

/** An object with any keys and any JSON as values, of at most {@link JSON_LEVELS} levels, measured as JSON. */
export function jsonObject({ size, keys }: { size: Size; keys?: Size }): Rule {
  const schema = {
    type: 'object',
    additionalProperties: true,
    ...(keys && { maxProperties: keys.max }),
  };
  return makeRule(schema, (value, field) => {
    if (!isJsonObject(value)) return faultOfNoObject(value, field);
    const fault = (keys && sizeFault(Object.keys(value).length, keys)) ?? faultInContent(value, size);
    return fault === undefined ? undefined : `\`${field}\` ${fault}`;
  });
}

/** PHP writes an empty object as `[]`: there, a call fails only where there is nothing to give. */
function faultOfNoObject(value: unknown, field: string): string {
  return Array.isArray(value) && value.length === 0
    ? `\`${field}\` is an empty array; give an object, \`{}\` if it is empty, or leave it out`
    : `\`${field}\` is ${kindOf(value)}; give an object`;
}

function faultInContent(value: object, size: Size): string | undefined {
  if (isDeeperThan(value, JSON_LEVELS)) return `is nested more than ${JSON_LEVELS} levels deep; flatten it`;
  return sizeFault(bytesIn(JSON.stringify(value), size.max), size);
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeperThan(member, levels - 1));
}

/**
 * An object with the fields of another request class.
 *
 * @param explain as in {@link faultsInUnknown}
 */
export function shapedAs(
  requestClass: new () => object,
  explain?: (name: string) => string | undefined,
): Rule {
  const shape = shapeOf(requestClass);
  return makeRule(referenceTo(requestClass), (value, field) => {
    if (!isJsonObject(value)) return faultOfNoObject(value, field);
    const path = `${field}.`;
    const faults = [...faultsInFields(shape, value, path), ...faultsInUnknown(shape, value, path, explain)];
    return faults.join('; ') || undefined;
  });
}

/** An array of up to `size.max` such objects. */
export function listOf(
  requestClass: new () => object,
  size: Size,
  explain?: (name: string) => string | undefined,
): Rule {
  const item = shapedAs(requestClass, explain);
  return makeRule({ type: 'array', items: item.schema, maxItems: size.max }, (value, field) => {
    if (!Array.isArray(value)) return `\`${field}\` is ${kindOf(value)}; give an array of objects`;
    const tooMany = sizeFault(value.length, size);
    if (tooMany !== undefined) return `\`${field}\` ${tooMany}`;
    const faults = value.map((one: unknown, index) => item(one, `${field}[${index}]`));
    return faults.filter((fault) => fault !== undefined).join('; ') || undefined;
  });
}
