import { Refusal } from '@posthorn/kernel';
import { judgeBody } from './judge-body.ts';

/** As forms write them (the URL standard, section 5.1). */
const PLUS_IS_SPACE = 'in a query `+` is a space, write `%2B` for the sign';

/**
 * Judges the query string of a request by its query class, whose rules judge texts: `?limit=10` gives `'10'`.
 *
 * @param query what Express' simple parser gave: a string by name, or an array where a parameter was repeated
 * @throws Refusal (400) that names everything that is wrong, unknown and repeated parameters too
 */
export function judgeQuery<Query extends object>(queryClass: new () => Query, query: unknown): Query {
  const parameters = { ...(query as Readonly<Record<string, unknown>>) };
  const repeated = Object.keys(parameters).filter((name) => Array.isArray(parameters[name]));
  if (repeated.length > 0) throw new Refusal(400, repeated.slice(0, 10).map(faultOfRepeated).join('; '));
  try {
    return judgeBody(queryClass, parameters);
  } catch (refusal) {
    const hasSpace = Object.values(parameters).some((value) => String(value).includes(' '));
    if (!(refusal instanceof Refusal) || !hasSpace) throw refusal;
    throw new Refusal(refusal.statusCode, `${refusal.message}; ${PLUS_IS_SPACE}`, refusal.details);
  }
}

function faultOfRepeated(name: string): string {
  return `\`${name.slice(0, 60).replace(/[\p{C}\p{Z}`]/gu, '�')}\` is given more than once; give it once`;
}
