import { PAGE_LIMITS } from '@posthorn/domain';
import { parseId } from '@posthorn/kernel';
import { idOf } from '../openapi/answer-schemas.ts';
import { kindOf, makeRule, type Rule } from './rule.ts';
import { text } from './text-rules.ts';

const ANY_ID = /^[a-z]{2,4}_[0-7][0-9a-hjkmnp-tv-z]{25}$/;

const { min, max } = PAGE_LIMITS;
const MEND = `give a whole number from ${min} to ${max}`;

/** How many items a page may have at most, in decimal digits. */
export const pageLimit: Rule = makeRule({ type: 'integer', minimum: min, maximum: max }, (value, field) => {
  if (typeof value !== 'string') return `\`${field}\` is ${kindOf(value)}; ${MEND}`;
  if (!/^\d{1,15}$/.test(value)) return `\`${field}\` is not a whole number; ${MEND}`;
  if (/^0\d/.test(value)) return `\`${field}\` begins with a zero; ${MEND}`;
  return Number(value) < min || Number(value) > max ? `\`${field}\` is ${Number(value)}; ${MEND}` : undefined;
});

/** An id with any prefix. */
export const anyId: Rule = text({ pattern: ANY_ID.source }, (value) =>
  ANY_ID.test(value) ? undefined : 'is not an id; give a prefix, `_` and 26 characters, as ids are shown',
);

/** The id of an event. */
export const eventId: Rule = text(idOf('evt'), (value) =>
  parseId('evt', value) === undefined
    ? 'is not an id of an event; give `evt_` and 26 characters, as ids are shown'
    : undefined,
);
