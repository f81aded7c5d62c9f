import { Refusal } from '@posthorn/kernel';
import { PATH_IDS, type PathIdName, unknownId } from '../validation/path-ids.ts';
import { faultsInFields, shapeOf } from '../validation/shape.ts';
import { NO_QUERY } from '../validation/takes-no-query.ts';
import { idOf } from './answer-schemas.ts';
import type { Refusals } from './describes.ts';
import type { DescribedClass } from './json-schema.ts';
import { partsOf, type Route, takesNoBody } from './routes.ts';

const NO_KEY: Refusals = {
  'Key missing': new Refusal(
    401,
    'The `Authorization` header is missing; send `Authorization: Bearer <API key>`',
  ),
  'Key not valid': new Refusal(401, 'The API key is not valid; it may have been deleted'),
};
const NO_SCOPE: Refusals = {
  'Scope missing': new Refusal(
    401,
    'The API key lacks the scope `api_user`; use a key with the role `API_USER` or `EDITOR`',
  ),
};
const NO_EDITOR: Refusals = {
  'Role missing': new Refusal(
    403,
    'The API key may not manage this workspace; use a key with the role `EDITOR`',
  ),
};
const [WORKSPACE] = idOf(PATH_IDS.workspace_id.prefix)['examples'] as [string];
const OTHER_WORKSPACE: Refusals = {
  'Another workspace': new Refusal(
    403,
    `The API key is not of the workspace in the path; use the id of its own workspace, \`${WORKSPACE}\``,
  ),
};
const A_BODY: Refusals = {
  'A body that says something': new Refusal(
    400,
    '`force` is not a known field; this call takes no body, leave it out',
  ),
};
const A_QUERY: Refusals = {
  'A query': new Refusal(400, `\`fields\` is not a known field; ${NO_QUERY}`),
};
const UNREADABLE_BODY: Refusals = {
  'Body too large': new Refusal(
    413,
    'The body has 11,534,336 bytes, 1,048,576 more than the 10 MiB (10,485,760 bytes) that are possible here; make it smaller, or spread it over several requests',
  ),
  'No JSON': new Refusal(415, 'The header `Content-Type` must be application/json, in UTF-8'),
};
const TOO_MANY_FAILURES =
  'Too many requests without a valid API key came from this address; wait 3 seconds, or send a valid key';
const TOO_MUCH: Refusals = {
  'Too fast': new Refusal(
    429,
    'The API key may make 100 requests a second and 200 at once; wait 1 second and send the request again',
  ),
  'Too often without a valid key': new Refusal(429, TOO_MANY_FAILURES),
  'Overloaded': new Refusal(503, 'Too many requests are being worked on; try again in a moment'),
};

/** Guessing links of mails counts as guessing keys, see `refuseUnknownLink`. */
export const TOO_MANY_GUESSES: Refusals = {
  'Too many invalid links': new Refusal(429, TOO_MANY_FAILURES),
};

/** The refusals that are identical on all routes, and so are shared components of the document. */
export const COMMON_REFUSALS: Refusals = {
  ...NO_KEY,
  ...NO_SCOPE,
  ...A_QUERY,
  ...UNREADABLE_BODY,
  ...TOO_MUCH,
};

/** All refusals of a route: those that follow from its guards, body and path, and those of its description. */
export function refusalsOf(route: Route): Refusals {
  return {
    ...shapeRefusals(route),
    ...accessRefusals(route),
    ...pathRefusals(route),
    ...route.description.refuses,
  };
}

function accessRefusals({ access, path }: Route): Refusals {
  if (access === undefined) return {};
  return {
    ...NO_KEY,
    ...(access.scope === 'api_user' && NO_SCOPE),
    ...(access.manages && NO_EDITOR),
    ...(path.includes('{workspace_id}') && OTHER_WORKSPACE),
    ...TOO_MUCH,
  };
}

function pathRefusals({ path }: Route): Refusals {
  const ids = partsOf(path).filter(
    (name): name is PathIdName => Object.hasOwn(PATH_IDS, name) && name !== 'workspace_id',
  );
  return Object.fromEntries(ids.map((name) => [`Unknown ${PATH_IDS[name].noun}`, unknownId(name)]));
}

function shapeRefusals(route: Route): Refusals {
  const { body, query, refuses = {} } = route.description;
  if (takesNoBody(route)) return { ...A_BODY, ...UNREADABLE_BODY };
  const ofBody = body === undefined ? {} : UNREADABLE_BODY;
  const validated = [body, query].flat().find((one) => one !== undefined);
  // A bad shape in the route's own description is a better example than a generated one.
  const isSaid = Object.values(refuses).some(({ statusCode }) => statusCode === 400);
  if (isSaid) return ofBody;
  if (validated === undefined) return route.access === undefined ? {} : A_QUERY;
  return { 'Bad shape': new Refusal(400, faultOfShape(validated)), ...ofBody };
}

/** A real fault message of a class's rules. */
function faultOfShape(requestClass: DescribedClass): string {
  const shape = shapeOf(requestClass);
  const [ofEmpty] = faultsInFields(shape, {});
  if (ofEmpty !== undefined) return ofEmpty;
  const ofControls = faultsInFields(shape, Object.fromEntries(shape.names.map((name) => [name, '\0'])));
  return ofControls[0]!;
}
