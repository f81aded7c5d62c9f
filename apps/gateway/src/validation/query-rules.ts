import { parseId } from '@posthorn/kernel';
import { idOf } from '../openapi/answer-schemas.ts';
import { kindOf, makeRule, type Rule } from './rule.ts';
import { text } from './text-rules.ts';

const ANY_ID = /^[a-z]{2,4}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** A whole number in decimal digits, from `min` to `max`, in a query. */
export function wholeNumber({ min, max }: { readonly min: number; readonly max: number }): Rule {
  const mend = `give a whole number from ${min} to ${max}`;
  return makeRule({ type: 'integer', minimum: min, maximum: max }, (value, field) => {
    if (typeof value !== 'string') return `\`${field}\` is ${kindOf(value)}; ${mend}`;
    if (!/^\d{1,15}$/.test(value)) return `\`${field}\` is not a whole number; ${mend}`;
    if (/^0\d/.test(value)) return `\`${field}\` begins with a zero; ${mend}`;
    return Number(value) < min || Number(value) > max
      ? `\`${field}\` is ${Number(value)}; ${mend}`
      : undefined;
  });
}

/** An id with any prefix. */
export const anyId: Rule = text({ pattern: ANY_ID.source }, (value) =>
  ANY_ID.test(value) ? undefined : 'is not an id; give a prefix, `_` and 26 characters, as ids are shown',
);

/** An id with this prefix. */
export function idWith(prefix: string, noun: string): Rule {
  return text(idOf(prefix), (value) =>
    parseId(prefix, value) === undefined
      ? `is not an id of ${noun}; give \`${prefix}_\` and 26 characters, as ids are shown`
      : undefined,
  );
}
