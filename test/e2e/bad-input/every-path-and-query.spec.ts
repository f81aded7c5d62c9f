import { describe, it } from '@jest/globals';
import { PATH_IDS } from '../../../apps/gateway/src/validation/path-ids.ts';
import { type Case, shown } from './cases.ts';
import { type DocumentedRoute, V1_ROUTES, titledRoutes } from './documented-routes.ts';
import { unknownIds, idsWithOtherPrefixes, invalidIds } from './faults/ids.ts';
import {
  INVALID_LIMITS,
  UNKNOWN_PARAMETERS,
  INVALID_OPAQUE_CURSORS,
  INVALID_SORTS,
  INVALID_TIME_CURSORS,
} from './faults/pages.ts';
import { QUERY_VALUES } from './faults/values.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();

/** Routes share their rules, so each route is tested with a third of a table, and the next ones with the rest. */
const THIRDS = 3;
const thirdOf = <Value>(values: readonly Value[], route: DocumentedRoute): Value[] =>
  values.filter((_, place) => place % THIRDS === V1_ROUTES.indexOf(route) % THIRDS);

const withIds = V1_ROUTES.filter(({ ids }) => ids.length > 0);
const withQueries = V1_ROUTES.filter(({ query }) => Object.keys(query).length > 0);
const lists = withQueries.filter(({ query }) => 'startAt' in query);

/** How a route answers an unknown id in its path. */
const REFUSALS = {
  ofWorkspace: { status: 403, names: 'not of the workspace in the path' },
  ofAnother: { status: 404, names: /^There is no [a-zA-Z ]+ with this id in this workspace$/ },
};

describe.each(titledRoutes(withIds))('%s: the path', (route, described) => {
  const { ids, bodies } = described;
  const places = ids.map((id) => ({ id, prefix: PATH_IDS[id].prefix }));
  const refusalOf = (prefix: string) => (prefix === 'wrk' ? REFUSALS.ofWorkspace : REFUSALS.ofAnother);

  it('G3, G8: refuses ids that are malformed, unknown, or of other resources', () =>
    refusing.refusesAll(
      places.flatMap(({ id, prefix }) =>
        [
          ...thirdOf(invalidIds(prefix), described),
          ...unknownIds(prefix),
          ...idsWithOtherPrefixes(prefix),
        ].map((value): Case => ({
          what: `${id} ${shown(value)}`,
          route,
          path: { [id]: value },
          body: bodies[0]?.example,
          ...refusalOf(prefix),
        })),
      ),
    ));

  it('G2: refuses ids that are not valid text', async () => {
    const wrong = ['%', '%zz', '%c3%28', '%e0%a4%a', '%ff', 'trs_%c0%80', '%ed%a0%80', '%f4%90%80%80'];
    for (const { id, prefix } of places) {
      const { status, names } = refusalOf(prefix);
      for (const value of wrong) expectRefusal(await askedRaw(described, id, value), status, names);
    }
  });
});

/** Requests a path with exactly these characters, which no client would send. */
async function askedRaw({ route, bodies }: DocumentedRoute, id: string, value: string) {
  const { stack } = refusing;
  const body = JSON.stringify(bodies[0]?.example ?? {});
  const sized = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  const path = route
    .replace(`{${id}}`, value)
    .replace('{workspace_id}', stack.tenant.workspaceId)
    .replaceAll(/\{\w+\}/g, 'x');
  const auth = `Authorization: Bearer ${stack.tenant.keys.editor}`;
  return stack.api().raw([`${path} HTTP/1.1`, 'Host: x', 'Connection: close', auth, ...sized], body);
}

const asking = (route: string, query: string, names: string | RegExp): Case => ({
  route,
  what: query,
  query: `?${query}`,
  names,
  status: 400,
});
const named = (field: string): RegExp => new RegExp(`\`${field}\` `);

const withoutQueries = V1_ROUTES.filter(({ query }) => Object.keys(query).length === 0);

describe.each(titledRoutes(withoutQueries))('%s: no query', (route) => {
  it('G3, G4: must be empty', async () => {
    await refusing.refusesAll([
      asking(route, 'version=3', '`version` is not a known field; this call has no query, leave it out'),
      asking(route, 'a&b=1&b=2', '`a` is not a known field; `b` is not a known field; this call'),
      asking(route, '__proto__=1', '`__proto__` is not a known field; this call'),
      asking(route, '%ff=1', 'The query has `%ff`'),
    ]);
    const unasked = { ...asking(route, 'version=3', 'header is missing'), as: null, status: 401 };
    await refusing.refuses(unasked);
    await refusing.refuses({ ...unasked, query: '?%ff' });
  });
});

describe.each(titledRoutes(withQueries))('%s: the query', (route, { query }) => {
  it('G3, G4: accepts only documented parameters, each once', () =>
    refusing.refusesAll([
      asking(route, 'nonesuch=1', '`nonesuch` is not a known'),
      asking(route, '__proto__=1', '`__proto__` is not a known'),
      ...Object.keys(query).flatMap((name) => [
        asking(route, `${name}=1&${name}=1`, `\`${name}\` is given more than once`),
        asking(route, `${name}=1&${name}=2&${name}=3`, `\`${name}\` is given more than once`),
        asking(route, `${name}[]=1`, 'is not a known'),
        asking(route, `${name}[a]=1`, 'is not a known'),
        asking(route, `${name.toUpperCase()}=1`, 'is not a known'),
        asking(route, `${name}=B%FCcher`, 'The query has `B%FCcher`, which is not percent-encoded UTF-8'),
      ]),
    ]));

  it('G3: refuses values that the schema of a parameter does not allow, and names the parameter', () =>
    refusing.refusesAll(
      Object.entries(query).flatMap(([name, takes]) =>
        QUERY_VALUES.filter((value) => !takes(decodeURIComponent(value.replaceAll('+', ' ')))).map((value) =>
          asking(route, `${name}=${value}`, named(name)),
        ),
      ),
    ));
});

/** The lists of keys and webhooks, which are short, use a time as cursor. */
const isByTime = ({ route }: DocumentedRoute): boolean => /\/(api-keys|webhooks)$/.test(route);

describe.each(titledRoutes(lists))('%s: the page', (route, list) => {
  const parameters = {
    limit: INVALID_LIMITS,
    sort: INVALID_SORTS,
    startAt: isByTime(list) ? INVALID_TIME_CURSORS : INVALID_OPAQUE_CURSORS,
  };

  it.each(Object.entries(parameters))('G10: refuses invalid values of `%s`', (name, values) =>
    refusing.refusesAll(thirdOf(values, list).map((value) => asking(route, `${name}=${value}`, named(name)))),
  );

  it('G4, G10: refuses paging parameters of other APIs', () =>
    refusing.refusesAll(
      thirdOf(UNKNOWN_PARAMETERS, list).map((query) => asking(route, query, /is not a known field|U\+0000/)),
    ));
});
