import { DOCUMENT, compileSchema, OPERATIONS } from '../../../apps/gateway/src/openapi/document.fixture.ts';
import type { PathIdName } from '../../../apps/gateway/src/validation/path-ids.ts';
import { tomorrow } from '../factories.ts';
import type { Role } from '../stack.ts';

type Schema = Readonly<Record<string, unknown>>;
type Validator = (value: unknown) => boolean;

/** A kind of body that a route accepts, with a validator for each of its fields. */
interface DocumentedBody {
  readonly example: Readonly<Record<string, unknown>>;
  readonly fields: Readonly<Record<string, Validator>>;
}

/** A route as the OpenAPI document describes it. */
export interface DocumentedRoute {
  /** Method and path. */
  readonly route: string;
  readonly needsKey: boolean;
  /** The roles whose keys are refused. */
  readonly forbiddenRoles: readonly Role[];
  /** The names of the ids in its path. */
  readonly ids: readonly PathIdName[];
  /** A validator for each query parameter, which takes its text. */
  readonly query: Readonly<Record<string, Validator>>;
  /** Empty: it has no body. */
  readonly bodies: readonly DocumentedBody[];
  readonly needsBody: boolean;
}

const ROLES: Readonly<Record<string, Role>> = { VIEWER: 'viewer', API_USER: 'apiUser', EDITOR: 'editor' };

/** Every route of the document. */
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
    query: Object.fromEntries(ofQuery.map(({ name, schema }) => [name, textValidatorOf(schema)])),
    needsBody: operation.requestBody?.required === true,
    bodies: json === undefined ? [] : bodiesOf(json.schema, Object.values(json.examples)),
  };
});

/** The routes below `/v1/`. Some of them need no key. */
export const V1_ROUTES = DOCUMENTED_ROUTES.filter(({ route }) => route.includes(' /v1/'));

/** Routes for `describe.each`, with their titles. */
export function titledRoutes(routes: readonly DocumentedRoute[]): [string, DocumentedRoute][] {
  return routes.map((route) => [route.route, route]);
}

function rolesThatMayNot(description: string): Role[] {
  const allowed = /Needs a key with the role (.*)\./.exec(description)?.[1];
  if (allowed === undefined) return [];
  return Object.entries(ROLES).flatMap(([name, role]) => (allowed.includes(`\`${name}\``) ? [] : [role]));
}

/** One for each kind of body: further examples of the same kind have the same schema. */
function bodiesOf(schema: Schema, examples: readonly { readonly value: unknown }[]): DocumentedBody[] {
  const kinds = (resolved(schema)['oneOf'] ?? [schema]) as Schema[];
  return kinds.map((kind) => {
    const example = examples.find(({ value }) => compileSchema(kind)(value));
    if (example === undefined) throw new Error(`a kind of body without an example: ${JSON.stringify(kind)}`);
    const { properties = {} } = resolved(kind) as { properties?: Record<string, Schema> };
    const fields = Object.entries(properties).map(([name, field]) => [name, compileSchema(field)]);
    return {
      example: withFutureSendAt(example.value as DocumentedBody['example']),
      fields: Object.fromEntries(fields),
    };
  });
}

/** An example with a `sendAt`, if it has one, that is in the future. */
function withFutureSendAt(example: DocumentedBody['example']): DocumentedBody['example'] {
  return 'sendAt' in example ? { ...example, sendAt: tomorrow() } : example;
}

/** A validator for the text of a query parameter; digits stand for an integer where the schema requires one. */
function textValidatorOf(schema: Schema): Validator {
  const validate = compileSchema(schema);
  return (text) => validate(schema['type'] === 'integer' && /^\d+$/.test(String(text)) ? Number(text) : text);
}

function resolved(schema: Schema): Schema {
  const { $ref } = schema as { $ref?: string };
  if ($ref === undefined) return schema;
  const path = $ref.slice('#/'.length).split('/');
  const found = path.reduce<unknown>((part, name) => (part as Record<string, unknown>)[name], DOCUMENT);
  return resolved(found as Schema);
}
