import { DOCUMENT, compileSchema, OPERATIONS } from '../../../apps/gateway/src/openapi/document.fixture.ts';
import type { PathIdName } from '../../../apps/gateway/src/validation/path-ids.ts';
import { tomorrow } from '../makers.ts';

type Schema = Readonly<Record<string, unknown>>;
type Judge = (value: unknown) => boolean;
export type Role = 'viewer' | 'apiUser' | 'editor';

/** A body that a route takes, and what each field that it may have takes. */
export interface DocumentedBody {
  readonly example: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, Judge>>;
}

/** A route as the document describes it. */
export interface DocumentedRoute {
  /** Method and path. */
  readonly route: string;
  readonly needsKey: boolean;
  /** Whose keys may not use it. */
  readonly forbiddenRoles: readonly Role[];
  /** The names of the ids in its path. */
  readonly ids: readonly PathIdName[];
  /** What each parameter of the query takes, which is a text. */
  readonly query: Readonly<Record<string, Judge>>;
  /** None: it takes no body. */
  readonly bodies: readonly DocumentedBody[];
  readonly needsBody: boolean;
}

const ROLES: Readonly<Record<string, Role>> = { VIEWER: 'viewer', API_USER: 'apiUser', EDITOR: 'editor' };

/** Every route that the document has. */
export const DOCUMENTED_ROUTES: readonly DocumentedRoute[] = OPERATIONS.map(([route, operation]) => {
  const { description, parameters = [] } = operation as unknown as {
    readonly description: string;
    readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Schema }[];
  };
  const ofQuery = parameters.filter((parameter) => parameter.in === 'query');
  const json = operation.requestBody?.content['application/json'];
  return {
    route,
    needsKey: operation.security.length > 0,
    forbiddenRoles: rolesThatMayNot(description),
    ids: [...route.matchAll(/\{(\w+_id)\}/g)].map(([, name]) => name as PathIdName),
    query: Object.fromEntries(ofQuery.map(({ name, schema }) => [name, textJudgeOf(schema)])),
    needsBody: operation.requestBody?.required === true,
    bodies: json === undefined ? [] : bodiesOf(json.schema, Object.values(json.examples)),
  };
});

/** Those that callers use, of which some are for everybody. */
export const ROUTES_OF_CALLERS = DOCUMENTED_ROUTES.filter(({ route }) => route.includes(' /v1/'));

/** Routes for `describe.each`, with their titles. */
export function titledRoutes(routes: readonly DocumentedRoute[]): [string, DocumentedRoute][] {
  return routes.map((route) => [route.route, route]);
}

function rolesThatMayNot(description: string): Role[] {
  const allowed = /Needs a key with the role (.*)\./.exec(description)?.[1];
  if (allowed === undefined) return [];
  return Object.entries(ROLES).flatMap(([name, role]) => (allowed.includes(`\`${name}\``) ? [] : [role]));
}

/** One for each kind of body: further examples of a kind would be judged by the same rules. */
function bodiesOf(schema: Schema, examples: readonly { readonly value: unknown }[]): DocumentedBody[] {
  const kinds = (schema['oneOf'] ?? [schema]) as Schema[];
  return kinds.map((kind) => {
    const example = examples.find(({ value }) => compileSchema(kind)(value));
    if (example === undefined) throw new Error(`a kind of body without an example: ${JSON.stringify(kind)}`);
    const { properties = {} } = resolved(kind) as { properties?: Record<string, Schema> };
    const fields = Object.entries(properties).map(([name, field]) => [name, compileSchema(field)]);
    return {
      example: ofToday(example.value as DocumentedBody['example']),
      fields: Object.fromEntries(fields),
    };
  });
}

/** An example whose time to send is one that can be. */
function ofToday(example: DocumentedBody['example']): DocumentedBody['example'] {
  return 'sendAt' in example ? { ...example, sendAt: tomorrow() } : example;
}

/** A query string says a number by its digits. */
function textJudgeOf(schema: Schema): Judge {
  const judge = compileSchema(schema);
  return (text) => judge(schema['type'] === 'integer' && /^\d+$/.test(String(text)) ? Number(text) : text);
}

function resolved(schema: Schema): Schema {
  const { $ref } = schema as { $ref?: string };
  if ($ref === undefined) return schema;
  const path = $ref.slice('#/'.length).split('/');
  const found = path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], DOCUMENT);
  return resolved(found as Schema);
}
