import { ValidateBy } from 'class-validator';

/**
 * Accepts texts of a given form.
 *
 * @param form its description for operators, such as `a URL that begins with https://`
 */
export function HasForm(form: string, holds: (text: string) => boolean): PropertyDecorator {
  return ValidateBy({
    name: 'isOfForm',
    constraints: [form],
    validator: { validate: (value: unknown) => typeof value === 'string' && holds(value) },
  });
}
