import {
  registerDecorator,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { JsonSchema } from '../openapi/json-schema.ts';

/** The rule of a field's values: a validator and a JSON Schema. */
export interface Rule {
  /**
   * @param field the field's path in the request, such as `settings.trackOpens`
   * @returns the fault and how to correct it, naming the field; undefined for a valid value
   */
  (value: unknown, field: string): string | undefined;
  /** Accepts whatever the rule accepts, and refuses as much of the rest as a schema can. */
  readonly schema: JsonSchema;
}

/** Combines a validator and a schema into a rule. */
export function makeRule(
  schema: JsonSchema,
  validate: (value: unknown, field: string) => string | undefined,
): Rule {
  return Object.assign((value: unknown, field: string) => validate(value, field), { schema });
}

/** Properties of a field in the OpenAPI document, beside its rule's schema. */
export interface FieldTraits {
  /** The field's value in the examples, which omit optional fields without one. */
  readonly example?: unknown;
  /** The default when the field is absent. Not needed where the class itself initialises the field. */
  readonly default?: unknown;
}

/** How a field is described. */
export interface FieldDescription extends FieldTraits {
  readonly isRequired: boolean;
  readonly sentence: string;
}

/** Adapts a rule to class-validator; the rule is the only constraint in the metadata. */
@ValidatorConstraint({ name: 'rule' })
export class RuleConstraint implements ValidatorConstraintInterface {
  validate(value: unknown, args: ValidationArguments): boolean {
    return ruleOf(args)(value, args.property) === undefined;
  }

  defaultMessage(args: ValidationArguments): string {
    return ruleOf(args)(args.value, args.property) ?? '';
  }
}

function ruleOf(args: ValidationArguments): Rule {
  return args.constraints[0] as Rule;
}

const OR_ABSENT = ' or leave it out';

/** The field is required. */
export function Required(rule: Rule, sentence: string, traits: FieldTraits = {}): PropertyDecorator {
  return registerField(rule, { isRequired: true, sentence, ...traits });
}

/**
 * The field may be absent; `null` is refused, because it may be a value lost by the caller. So are empty texts where the rule does; some languages and
 * clients write them for fields that were never set.
 */
export function Optional(rule: Rule, sentence: string, traits: FieldTraits = {}): PropertyDecorator {
  const ifPresent = makeRule(rule.schema, (value, field) => {
    if (value === undefined) return undefined;
    if (value === null) return `\`${field}\` is null; give it a value or leave it out`;
    const fault = rule(value, field);
    return value !== '' || fault === undefined || fault.endsWith(OR_ABSENT) ? fault : `${fault},${OR_ABSENT}`;
  });
  return registerField(ifPresent, { isRequired: false, sentence, ...traits });
}

/** The field may be absent, which leaves the value unchanged, or null, which removes it. */
export function Removable(rule: Rule, sentence: string, traits: FieldTraits = {}): PropertyDecorator {
  const orNull = makeRule({ anyOf: [rule.schema, { type: 'null' }] }, (value, field) =>
    value === undefined || value === null ? undefined : rule(value, field),
  );
  return registerField(orNull, { isRequired: false, sentence, ...traits });
}

function registerField(rule: Rule, description: FieldDescription): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'rule',
      target: target.constructor,
      propertyName: property as string,
      options: { context: description },
      constraints: [rule],
      validator: RuleConstraint,
    });
  };
}

/** The type of a value in words, for "`to` is a number; …". */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Whether the value is a JSON object: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
