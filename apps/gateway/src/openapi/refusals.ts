import {
  foreignWorkspace,
  lacksScope,
  mayNotManage,
  missingKey,
  tooManyFailures,
  tooManyInvalidLinks,
  tooManyRequests,
  unknownKey,
} from '@posthorn/auth';
import { SIZES } from '@posthorn/domain';
import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { bodyTooLarge, notJson, overload } from '@posthorn/platform';
import { unconfirmed } from '../refusal-of.ts';
import { PATH_IDS, type PathIdName, unknownId } from '../validation/path-ids.ts';
import { faultsInFields, shapeOf } from '../validation/shape.ts';
import { NO_BODY, NO_QUERY } from '../validation/unexpected-input.guard.ts';
import { refuseFields } from '../validation/unknown-fields.ts';
import { idOf } from './answer-schemas.ts';
import { refusalBy, type Refusals } from './describes.ts';
import { classesOf, type DescribedClass } from './json-schema.ts';
import { partsOf, type Route, takesNoBody } from './routes.ts';

const NO_KEY: Refusals = { 'Key missing': missingKey(), 'Key not valid': unknownKey() };
const NO_SCOPE: Refusals = { 'Scope missing': lacksScope('api_user') };
const NO_EDITOR: Refusals = { 'Role missing': mayNotManage() };
const [WORKSPACE] = idOf(PATH_IDS.workspace_id.prefix)['examples'] as [WorkspaceId];
const OTHER_WORKSPACE: Refusals = { 'Another workspace': foreignWorkspace(WORKSPACE) };
const A_BODY: Refusals = {
  'A body that says something': refusalBy(() => refuseFields({ force: true }, NO_BODY)),
};
const A_QUERY: Refusals = { 'A query': refusalBy(() => refuseFields({ fields: 'id' }, NO_QUERY)) };
const UNREADABLE_BODY: Refusals = {
  'Body too large': bodyTooLarge(SIZES.body.max, SIZES.body.max + 1024 * 1024),
  'No JSON': notJson(),
};
const LIMIT = { amount: 100, periodSeconds: 1, burst: 200 };
const TOO_FAST: Refusals = {
  'Too fast': tooManyRequests(LIMIT, { nextAfterMs: 1_000 }),
  'Too often without a valid key': tooManyFailures({ nextAfterMs: 3_000 }),
};
const UNAVAILABLE: Refusals = {
  'Overloaded': overload('requests'),
  'Database unavailable': unconfirmed(),
};

/** The refusals of links of mails. Guessing them counts as guessing keys, see `refuseUnknownLink`. */
export const LINK_REFUSALS: Refusals = {
  'Too many invalid links': tooManyInvalidLinks({ nextAfterMs: 3_000 }),
  ...UNAVAILABLE,
};

/** The refusals that are identical on all routes, and so are shared components of the document. */
export const COMMON_REFUSALS: Refusals = {
  ...NO_KEY,
  ...NO_SCOPE,
  ...A_QUERY,
  ...UNREADABLE_BODY,
  ...TOO_FAST,
  ...UNAVAILABLE,
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
    ...TOO_FAST,
    ...UNAVAILABLE,
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
  const validated = [...classesOf(body), query].find((one) => one !== undefined);
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
