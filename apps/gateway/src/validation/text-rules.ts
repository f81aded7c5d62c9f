import { closestName } from '@posthorn/kernel';
import {
  faultInDisplayName,
  faultInHeaderText,
  faultInVisibleText,
  parseTimeOrDay,
  parseTimestamp,
  SIZES,
  type Size,
  TIME_OR_DAY_HINT,
  TIME_HINT,
} from '@posthorn/domain';
import { type JsonSchema, nameSchema } from '../openapi/json-schema.ts';
import { kindOf, makeRule, type Rule } from './rule.ts';
import { bytesIn, lengthFault, sizeFault } from './sizes.ts';

/** {@link faultInHeaderText} as a pattern for schemas. */
const NO_CONTROLS = '^[^\\u0000-\\u001f\\u007f-\\u009f]*$';

/**
 * A string without a fault by `validate`, whose fault is a predicate that follows the field's name.
 *
 * @param advice what to give instead, when the value is no string
 */
export function text(
  schema: JsonSchema,
  validate: (value: string) => string | undefined,
  advice = 'give a string',
): Rule {
  return makeRule({ type: 'string', ...schema }, (value, field) => {
    const fault = typeof value === 'string' ? validate(value) : `is ${kindOf(value)}; ${advice}`;
    return fault === undefined ? undefined : `\`${field}\` ${fault}`;
  });
}

/** The fault in a parser's result; undefined for a valid text. */
export function faultIn(parsed: object): string | undefined {
  return 'fault' in parsed ? (parsed.fault as string) : undefined;
}

/** One line of at least one character, safe as the value of a header. */
export function singleLine(size: Size): Rule {
  return text({ minLength: 1, maxLength: size.max, pattern: NO_CONTROLS }, (value) => {
    if (value === '') return 'is empty; give at least 1 character';
    return lengthFault(value, size) ?? faultInHeaderText(value);
  });
}

/** A name given by people: one line with visible text. Surrounding spaces are trimmed. */
export function givenName(size: Size): Rule {
  return text({ minLength: 1, maxLength: size.max, pattern: '\\S' }, (value) => {
    if (value.trim() === '') return 'is empty; give at least 1 character';
    return lengthFault(value, size) ?? faultInVisibleText(value);
  });
}

/** A text of at least one character without a fault by `validate`. */
export function boundedText(size: Size, validate: (value: string) => string | undefined): Rule {
  return text({ minLength: 1, maxLength: size.max }, (value) => lengthFault(value, size) ?? validate(value));
}

/** A text up to a number of characters, of any number of lines, possibly empty. */
export function shortText(size: Size): Rule {
  return text({ maxLength: size.max }, (value) => lengthFault(value, size));
}

/** The content of an email, measured in octets of UTF-8; a schema can only count its characters. */
export function content(size: Size, { mayBeEmpty }: { mayBeEmpty: boolean }): Rule {
  return text({ ...(mayBeEmpty ? {} : { minLength: 1 }), maxLength: size.max }, (value) => {
    if (value === '' && !mayBeEmpty) return 'is empty; give at least 1 character';
    return sizeFault(bytesIn(value, size.max), size);
  });
}

/** The name beside an address. */
export const displayName: Rule = text(
  { minLength: 1, maxLength: SIZES.displayName.max, pattern: NO_CONTROLS },
  faultInDisplayName,
);

/** A time (RFC 3339). Its bounds are checked later, since only new requests have to meet them. */
export const timestamp: Rule = text(
  { format: 'date-time', examples: ['2030-01-31T09:30:00Z'] },
  (value) => faultIn(parseTimestamp(value)),
  TIME_HINT,
);

/** A time (RFC 3339), or a day, which stands for its first moment (UTC). */
export const timeOrDay: Rule = text(
  { pattern: '^\\d{4}-\\d{2}-\\d{2}', examples: ['2030-01-31'] },
  (value) => faultIn(parseTimeOrDay(value)),
  TIME_OR_DAY_HINT,
);

/** A calendar day, not before 1970. */
export const day: Rule = text(
  { format: 'date', pattern: '^\\d{4}-\\d{2}-\\d{2}$', examples: ['2030-01-31'] },
  (value) => {
    const parsed = parseTimeOrDay(value);
    if ('fault' in parsed && /^\d{4}-\d{2}-\d{2}$/.test(value)) return parsed.fault;
    if ('fault' in parsed || !parsed.isDay) return 'is not a day; give one as in `2030-01-31`';
    return parsed.atMs < 0 ? `is ${value}; give a day from 1970-01-01 on` : undefined;
  },
);

/**
 * One of these words, in exactly this spelling.
 *
 * @param name of the schema of these words
 */
export function oneOfWords(name: string, words: readonly string[]): Rule {
  const wanted = `give one of ${words.map((word) => `\`${word}\``).join(', ')}`;
  const validate = text(
    {},
    (value) => {
      if (words.includes(value)) return undefined;
      const closest = closestName(value, words);
      const meant = closest === undefined ? '' : `; did you mean \`${closest}\`?`;
      return `is not one of the known values; ${wanted}${meant}`;
    },
    wanted,
  );
  return makeRule(nameSchema(name, { type: 'string', enum: words }), validate);
}
