import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { closedSchema } from '@posthorn/testing';
import { DOCUMENT } from '../../apps/gateway/src/openapi/document.fixture.ts';
import type { Answer } from './api.ts';
import { type DescribedRoute, ROUTES } from './openapi-routes.ts';

/** Answered before a route is found, so none describes them: a method that the path does not have, and headers that are too large. */
const OF_NO_ROUTE = new Set([405, 431]);

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
 * Expects an answer to be one that the OpenAPI document describes: its status and every field of its JSON. Paths without a route pass.
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
  const described = route.responses[answer.status];
  if (described === undefined) return [`${answer.status} is not described: ${answer.text.slice(0, 500)}`];
  const place =
    described.$ref?.slice(1) ??
    `/paths/${pointed(route.path)}/${route.method.toLowerCase()}/responses/${answer.status}`;
  const [type = ''] = (answer.headers.get('content-type') ?? '').split(';');
  if (type !== 'application/json') return [];
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
