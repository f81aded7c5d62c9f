import { kindOf, makeRule, type Rule } from './rule.ts';

/** A whole number in decimal digits, from `least` to `most`: what a query string can say of a number. */
export function wholeNumber({ least, most }: { readonly least: number; readonly most: number }): Rule {
  const mend = `give a whole number from ${least} to ${most}`;
  return makeRule({ type: 'integer', minimum: least, maximum: most }, (value, field) => {
    if (typeof value !== 'string') return `\`${field}\` is ${kindOf(value)}; ${mend}`;
    if (!/^\d{1,15}$/.test(value)) return `\`${field}\` is not a whole number; ${mend}`;
    return Number(value) < least || Number(value) > most
      ? `\`${field}\` is ${Number(value)}; ${mend}`
      : undefined;
  });
}
