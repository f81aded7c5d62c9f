import { Refusal } from '@posthorn/kernel';
import { shownName } from './unknown-fields.ts';
import { validateBody } from './validate-body.ts';

/** By `application/x-www-form-urlencoded` (the URL standard, section 5.1). */
const PLUS_IS_SPACE = 'in a query `+` is a space, write `%2B` for the sign';

/**
 * Validates a query by its query class, whose rules take strings: `?limit=10` gives `'10'`.
 *
 * @param query from Express' simple parser: a string by name, or an array where a parameter is repeated
 * @throws Refusal (400) that names all faults, including unknown and repeated parameters
 */
export function validateQuery<Query extends object>(queryClass: new () => Query, query: unknown): Query {
  const parameters = { ...(query as Readonly<Record<string, unknown>>) };
  const repeated = Object.keys(parameters).filter((name) => Array.isArray(parameters[name]));
  if (repeated.length > 0) throw new Refusal(400, repeated.slice(0, 10).map(faultOfRepeated).join('; '));
  try {
    return validateBody(queryClass, parameters);
  } catch (refusal) {
    const hasSpace = Object.values(parameters).some((value) => String(value).includes(' '));
    if (!(refusal instanceof Refusal) || !hasSpace) throw refusal;
    throw new Refusal(400, `${refusal.message}; ${PLUS_IS_SPACE}`);
  }
}

function faultOfRepeated(name: string): string {
  return `\`${shownName(name)}\` is given more than once; give it once`;
}
