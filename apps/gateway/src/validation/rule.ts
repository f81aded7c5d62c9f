import {
  registerDecorator,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidatorConstraintInterface,
} from 'class-validator';

/**
 * What a field must hold.
 *
 * @param field the field's path in the request, such as `settings.trackOpens`
 * @returns what is wrong and how to mend it, naming the field; undefined when nothing is
 */
export type Rule = (value: unknown, field: string) => string | undefined;

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
export function Required(rule: Rule): PropertyDecorator {
  return (target, property) => {
    registerDecorator({
      name: 'rule',
      target: target.constructor,
      propertyName: property as string,
      constraints: [rule],
      validator: RuleConstraint,
    });
  };
}

/** The field may be absent; `null` is not absence, because a caller who sends it may have lost a value. */
export function Optional(rule: Rule): PropertyDecorator {
  return Required((value, field) => {
    if (value === undefined) return undefined;
    return value === null ? `\`${field}\` is null; give it a value or leave it out` : rule(value, field);
  });
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
