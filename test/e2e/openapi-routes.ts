import {
  DOCUMENT,
  OPERATIONS,
  type TestedOperation,
  type TestedResponse,
} from '../../apps/gateway/src/openapi/document.fixture.ts';
import type { Answer, Api } from './api.ts';
import type { Stack, Tenant } from './stack.ts';

/** A parameter of a route, as the document describes it. */
export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly schema: { readonly pattern?: string; readonly enum?: readonly string[] };
  readonly example?: unknown;
}

/** A route of the OpenAPI document, to be called. */
export interface DescribedRoute extends TestedOperation {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
}

/** Every route of the document. */
export const ROUTES: DescribedRoute[] = OPERATIONS.map(([name, operation]) => {
  const [method, path] = name.split(' ') as [string, string];
  return {
    ...operation,
    method,
    path,
    parameters: ((operation as { parameters?: Parameter[] }).parameters ?? []).map(withWords),
  };
});

/** The parameter with the schema of its words instead of its name. */
function withWords(parameter: Parameter): Parameter {
  const { $ref } = parameter.schema as { $ref?: string };
  const schemas = DOCUMENT.components['schemas'] as Readonly<Record<string, Parameter['schema']>>;
  return $ref === undefined ? parameter : { ...parameter, schema: schemas[$ref.split('/').at(-1)!]! };
}

/** A workspace that calls routes with its `EDITOR` key. */
export interface Caller {
  readonly api: Api;
  readonly tenant: Tenant;
  /** For links that are only sent by mail. */
  readonly stack: Stack;
}

/** The prefix of the ids that a path parameter takes; undefined if it is not an id. */
export function prefixOf({ schema }: Parameter): string | undefined {
  return /^\^([a-z]+)_\[0-7\]/.exec(schema.pattern ?? '')?.[1];
}

/** The path parameters of a route that are ids. */
export function idsOf({ parameters }: DescribedRoute): { name: string; prefix: string }[] {
  return parameters.flatMap((parameter) => {
    const prefix = parameter.in === 'path' ? prefixOf(parameter) : undefined;
    return prefix === undefined ? [] : [{ name: parameter.name, prefix }];
  });
}

/** The examples of a route's body, and undefined if the body is optional. */
export function bodiesOf({ requestBody }: DescribedRoute): [name: string, body: unknown][] {
  const examples = Object.entries(requestBody?.content['application/json']?.examples ?? {}).map(
    ([name, { value }]): [string, unknown] => [name, value],
  );
  return requestBody?.required === true ? examples : [...examples, ['no body', undefined]];
}

/** Calls a route. @param parts the path parameters; default: their examples */
export function call(
  { method, path, parameters }: DescribedRoute,
  { api }: Caller,
  parts: Readonly<Record<string, string>>,
  body?: unknown,
): Promise<Answer> {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const example = parameters.find((parameter) => parameter.name === name)?.example as string;
    return encodeURIComponent(parts[name] ?? example);
  });
  return api.request(method, filled, body === undefined ? undefined : JSON.stringify(body));
}

/** A query string of the examples of a route's query parameters. */
export function queryOf({ parameters }: DescribedRoute): string {
  const examples = parameters.filter(
    (parameter) => parameter.in === 'query' && parameter.example !== undefined,
  );
  return new URLSearchParams(
    examples.map(({ name, example }): [string, string] => [name, String(example)]),
  ).toString();
}

/** How the document describes a route's answers with a status; undefined: not at all. */
function describedAnswer({ responses }: DescribedRoute, status: number): TestedResponse | undefined {
  const named = responses[status];
  const shared = DOCUMENT.components['responses'] as DescribedRoute['responses'];
  return named?.$ref === undefined ? named : shared[named.$ref.split('/').at(-1)!];
}

/** The examples in the document of a route's answers with a status. */
export function shownAnswers(route: DescribedRoute, status: number): unknown[] {
  const contents = Object.values(describedAnswer(route, status)?.content ?? {});
  return contents.flatMap(({ examples }) => Object.values(examples).map(({ value }) => value));
}
