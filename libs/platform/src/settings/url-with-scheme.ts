import { ValidateBy } from 'class-validator';

/** Accepts an absolute URL with a host and one of `schemes` (named without their colon). */
export function IsUrlWithScheme(...schemes: string[]): PropertyDecorator {
  return ValidateBy({
    name: 'isUrlWithScheme',
    constraints: schemes,
    validator: {
      validate: (value: unknown) => typeof value === 'string' && hasScheme(value, schemes),
      defaultMessage: () => `must be a URL that begins with ${schemes.join(':// or ')}://`,
    },
  });
}

function hasScheme(value: string, schemes: readonly string[]): boolean {
  const url = URL.parse(value);
  return url !== null && url.hostname !== '' && schemes.includes(url.protocol.slice(0, -1));
}
