import { ValidateBy } from 'class-validator';

/**
 * Accepts texts of a form.
 *
 * @param form what an operator is told that it must be, such as `a URL that begins with https://`
 */
export function IsOfForm(form: string, holds: (text: string) => boolean): PropertyDecorator {
  return ValidateBy({
    name: 'isOfForm',
    constraints: [form],
    validator: { validate: (value: unknown) => typeof value === 'string' && holds(value) },
  });
}
