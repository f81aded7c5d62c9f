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

/** Accepts one or several such URLs, separated by white space, which no URL holds. */
export function AreUrlsWithScheme(...schemes: string[]): PropertyDecorator {
  return ValidateBy({
    name: 'areUrlsWithScheme',
    constraints: schemes,
    validator: {
      validate: (value: unknown) =>
        typeof value === 'string' &&
        value
          .trim()
          .split(/\s+/)
          .every((url) => hasScheme(url, schemes)),
      defaultMessage: () => `must be URLs that begin with ${schemes.join(':// or ')}://, separated by spaces`,
    },
  });
}

function hasScheme(value: string, schemes: readonly string[]): boolean {
  const url = URL.parse(value);
  return url !== null && url.hostname !== '' && schemes.includes(url.protocol.slice(0, -1));
}
