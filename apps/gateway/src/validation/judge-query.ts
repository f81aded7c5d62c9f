import { Refusal } from '@posthorn/kernel';
import { judgeBody } from './judge-body.ts';

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
  return judgeBody(queryClass, parameters);
}

function faultOfRepeated(name: string): string {
  return `\`${name.slice(0, 60).replace(/[\p{C}\p{Z}`]/gu, '�')}\` is given more than once; give it once`;
}
