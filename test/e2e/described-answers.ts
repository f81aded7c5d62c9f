import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { closedSchema } from '@posthorn/testing';
import { DOCUMENT } from '../../apps/gateway/src/openapi/document.fixture.ts';
import type { Answer } from './api.ts';
import { describedAnswer, type DescribedRoute, ROUTES } from './openapi-routes.ts';

/** Answered before a route is found, so none describes them: a method that the path does not have, and headers that are too large. */
const OF_NO_ROUTE = new Set([405, 431]);

/** Headers that not every answer has: of a replay, and of limits, which most tests turn off. */
const NOT_ALWAYS = new Set(['Idempotent-Replayed', 'RateLimit', 'RateLimit-Policy']);

/** The routes with patterns of their paths; those with fewer parameters first, since `/v1/emails/batch` is no email. */
const PATTERNS = ROUTES.map((route) => ({ route, pattern: patternOf(route.path) })).sort(
  (one, other) => parametersIn(one.route) - parametersIn(other.route),
);

const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
ajv.addSchema(closedSchema(DOCUMENT) as object, 'document');
const validators = new Map<string, ValidateFunction>();

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replaceAll('.', String.raw`\.`).replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

function parametersIn({ path }: DescribedRoute): number {
  return path.split('{').length - 1;
}

/**
 * Expects an answer to be one that the OpenAPI document describes: its status, its headers, its type and every field of its JSON. Paths without a
 * route pass.
 *
 * @throws with the differences
 */
export function expectDescribed(method: string, pathAndQuery: string, answer: Answer): void {
  if (OF_NO_ROUTE.has(answer.status)) return;
  const [path = ''] = pathAndQuery.split('?');
  const found = PATTERNS.find(({ route, pattern }) => route.method === method && pattern.test(path));
  const faults = found === undefined ? [] : faultsOf(found.route, answer);
  if (faults.length > 0)
    throw new Error(
      `${method} ${path} was not answered as the OpenAPI document says: ${JSON.stringify(faults)}`,
    );
}

/** How an answer differs from what the document describes; empty if it does not. */
function faultsOf(route: DescribedRoute, answer: Answer): unknown[] {
  const { status } = answer;
  const described = describedAnswer(route, status);
  if (described === undefined) return [`${status} is not described: ${answer.text.slice(0, 500)}`];
  const { headers = {}, content = {} } = described;
  const missing = Object.keys(headers).filter((name) => !NOT_ALWAYS.has(name) && !answer.headers.has(name));
  if (missing.length > 0) return [`${status} has no ${missing.join(', ')}`];
  const type = answer.headers.get('content-type')?.split(';')[0];
  if (type === undefined) return Object.keys(content).length > 0 ? [`${status} has no content`] : [];
  if (!(type in content) && !('*/*' in content)) return [`${status} is not described as ${type}`];
  if (type !== 'application/json') return [];
  const place =
    route.responses[status]?.$ref?.slice(1) ??
    `/paths/${pointed(route.path)}/${route.method.toLowerCase()}/responses/${status}`;
  const validate = validatorOf(`document#${place}/content/${pointed(type)}/schema`);
  return validate(JSON.parse(answer.text)) ? [] : [...(validate.errors ?? []), answer.text.slice(0, 2_000)];
}

function validatorOf($ref: string): ValidateFunction {
  const known = validators.get($ref) ?? ajv.compile({ $ref });
  validators.set($ref, known);
  return known;
}

/** Escapes a name for a JSON pointer in a URI fragment (RFC 6901, section 6). */
function pointed(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
