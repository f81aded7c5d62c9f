import { PATH_IDS, type PathIdName, unknownId } from '../validation/path-ids.ts';
import { faultsInFields, shapeOf } from '../validation/shape.ts';
import { NO_QUERY } from '../validation/takes-no-query.ts';
import type { DescribedRefusal } from './describes.ts';
import type { DescribedClass } from './json-schema.ts';
import { type Route, takesNoBody } from './routes.ts';

const MISSING_KEY: DescribedRefusal = {
  status: 401,
  when: 'Key missing',
  message: 'The `Authorization` header is missing; send `Authorization: Bearer <API key>`',
};
const UNKNOWN_KEY: DescribedRefusal = {
  status: 401,
  when: 'Key not valid',
  message: 'The API key is not valid; it may have been deleted',
};
const NO_SCOPE: DescribedRefusal = {
  status: 401,
  when: 'Scope missing',
  message: 'The API key lacks the scope `api_user`; use a key with the role `API_USER` or `EDITOR`',
};
const NO_EDITOR: DescribedRefusal = {
  status: 403,
  when: 'Role missing',
  message: 'The API key may not manage this workspace; use a key with the role `EDITOR`',
};
const OTHER_WORKSPACE: DescribedRefusal = {
  status: 403,
  when: 'Another workspace',
  message: 'The API key is not of the workspace in the path; use the id of its own workspace',
};
const BODY_TOO_LARGE: DescribedRefusal = {
  status: 413,
  when: 'Body too large',
  message:
    'The body has 11,534,336 bytes, 1,048,576 more than the 10 MiB (10,485,760 bytes) that are possible here; make it smaller, or spread it over several requests',
};
const NO_BODY: DescribedRefusal = {
  status: 400,
  when: 'A body that says something',
  message: '`force` is not a known field; this call takes no body, leave it out',
};
const A_QUERY: DescribedRefusal = {
  status: 400,
  when: 'A query',
  message: `\`fields\` is not a known field; ${NO_QUERY}`,
};
const NO_JSON: DescribedRefusal = {
  status: 415,
  when: 'No JSON',
  message: 'The header `Content-Type` must be application/json, in UTF-8',
};
const TOO_FAST: DescribedRefusal = {
  status: 429,
  when: 'Too fast',
  message:
    'The API key may make 100 requests a second and 200 at once; wait 1 second and send the request again',
};
const TOO_MANY_FAILURES: DescribedRefusal = {
  status: 429,
  when: 'Too often without a valid key',
  message:
    'Too many requests without a valid API key came from this address; wait 3 seconds, or send a valid key',
};
const OVERLOADED: DescribedRefusal = {
  status: 503,
  when: 'Overloaded',
  message: 'Too many requests are being worked on; try again in a moment',
};

/** The refusals that are the same on every route that has them; the document says them once. */
export const COMMON_REFUSALS: readonly DescribedRefusal[] = [
  MISSING_KEY,
  UNKNOWN_KEY,
  NO_SCOPE,
  A_QUERY,
  BODY_TOO_LARGE,
  NO_JSON,
  TOO_FAST,
  TOO_MANY_FAILURES,
  OVERLOADED,
];

/** Everything that a route refuses with: what follows from its guards, body and path, and what it names itself. */
export function refusalsOf(route: Route): DescribedRefusal[] {
  const { refuses = [] } = route.description;
  return [...shapeRefusals(route), ...accessRefusals(route), ...pathRefusals(route), ...refuses];
}

function accessRefusals({ access, path }: Route): DescribedRefusal[] {
  if (access === undefined) return [];
  return [
    MISSING_KEY,
    UNKNOWN_KEY,
    ...(access.scope === 'api_user' ? [NO_SCOPE] : []),
    ...(access.manages ? [NO_EDITOR] : []),
    ...(path.includes('{workspace_id}') ? [OTHER_WORKSPACE] : []),
    TOO_FAST,
    TOO_MANY_FAILURES,
    OVERLOADED,
  ];
}

function pathRefusals({ path }: Route): DescribedRefusal[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return names
    .filter((name): name is PathIdName => Object.hasOwn(PATH_IDS, name) && name !== 'workspace_id')
    .map((name) => ({
      status: 404,
      when: `Unknown ${PATH_IDS[name].noun}`,
      message: unknownId(name).message,
    }));
}

function shapeRefusals(route: Route): DescribedRefusal[] {
  const { body, query, refuses = [] } = route.description;
  if (takesNoBody(route)) return [NO_BODY, BODY_TOO_LARGE, NO_JSON];
  const ofBody = body === undefined ? [] : [BODY_TOO_LARGE, NO_JSON];
  const judged = [body, query].flat().find((one) => one !== undefined);
  // What the route says itself about a bad shape is better than what can be found for it.
  const isSaid = refuses.some(({ status }) => status === 400);
  if (isSaid) return ofBody;
  if (judged === undefined) return route.access === undefined ? [] : [A_QUERY];
  return [{ status: 400, when: 'Bad shape', message: faultOfShape(judged) }, ...ofBody];
}

/** A fault that the rules of a class really find. */
function faultOfShape(requestClass: DescribedClass): string {
  const shape = shapeOf(requestClass);
  const [ofEmpty] = faultsInFields(shape, {});
  if (ofEmpty !== undefined) return ofEmpty;
  const ofControls = faultsInFields(shape, Object.fromEntries(shape.names.map((name) => [name, '\0'])));
  return ofControls[0]!;
}
