import {
  registerDecorator,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';
import type { JsonSchema } from '../openapi/json-schema.ts';

/** What a field must hold: how it is judged, and how the document of the interface describes it. */
export interface Rule {
  /**
   * @param field the field's path in the request, such as `settings.trackOpens`
   * @returns what is wrong and how to mend it, naming the field; undefined when nothing is
   */
  (value: unknown, field: string): string | undefined;
  /** Takes whatever the rule takes, and refuses as much as a schema can of what it does not. */
  readonly schema: JsonSchema;
}

/** A rule, out of its schema and its judgement. */
export function makeRule(
  schema: JsonSchema,
  judge: (value: unknown, field: string) => string | undefined,
): Rule {
  return Object.assign((value: unknown, field: string) => judge(value, field), { schema });
}

/** What the document says about a field beside its rule's schema. */
export interface FieldTraits {
  /** What the field holds in the document's examples; an optional field without one is left out of them. */
  readonly example?: unknown;
  /** What holds when the field is absent. Not needed where the class itself gives the field a value. */
  readonly default?: unknown;
}

/** How a field is described. */
export interface FieldDescription extends FieldTraits {
  readonly isRequired: boolean;
  readonly sentence: string;
}

/** Lets class-validator judge by a rule; the rule is the decorator's only argument in the metadata. */
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

/** The field must be there and hold what the rule says. */
export function Required(rule: Rule, sentence: string, traits: FieldTraits = {}): PropertyDecorator {
  return registerField(rule, { isRequired: true, sentence, ...traits });
}

/** The field may be absent; `null` is not absence, because a caller who sends it may have lost a value. */
export function Optional(rule: Rule, sentence: string, traits: FieldTraits = {}): PropertyDecorator {
  const ifPresent = makeRule(rule.schema, (value, field) => {
    if (value === undefined) return undefined;
    return value === null ? `\`${field}\` is null; give it a value or leave it out` : rule(value, field);
  });
  return registerField(ifPresent, { isRequired: false, sentence, ...traits });
}

/** The field may be absent, which leaves things as they are, or null, which takes away what there is: nothing, where it is new. */
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

/** The kind of a value in words, for "`to` is a number; …". */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'missing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Whether the value is an object of JSON: neither null nor an array. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
