import { describe, expect, it } from '@jest/globals';
import { type Case, shown } from './cases.ts';
import { DOCUMENTED_ROUTES, V1_ROUTES, titledRoutes } from './documented-routes.ts';
import { IMPOSSIBLE, VALUES } from './faults/values.ts';
import { expectRefusal } from './refusal.ts';
import { RefusingStack } from './refusing-stack.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

const refusing = RefusingStack.forFile();

const named = (field: string): RegExp => new RegExp(`\`${field}(\\[\\d+\\])?[.\`[]`);
/** Items of a batch have answers of their own. */
const isOwnAnswer = (route: string, value: unknown): boolean =>
  route.endsWith('/batch') && Array.isArray(value) && value.length > 0;
describe.each(titledRoutes(V1_ROUTES))('%s', (route, { needsKey, forbiddenRoles, bodies }) => {
  const someBody = bodies.length > 0 ? '{' : undefined;

  it('A1, A2, G5: checks the key before anything else', async () => {
    expect(needsKey).toBe(true);
    const bad = { route, what: 'without a key', as: null, body: someBody, status: 401, names: '' };
    const answer = await refusing.send(bad);
    expectRefusal(answer, 401, '`Authorization` header is missing');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
  });

  it('A4, K2, G5: refuses other roles before it checks anything else', async () => {
    for (const as of forbiddenRoles) {
      const answer = await refusing.send({ route, what: '', as, body: someBody, status: 0, names: '' });
      expect([401, 403]).toContain(answer.status);
      expectRefusal(answer, answer.status, answer.status === 401 ? 'scope' : 'role');
      expect(answer.headers.get('www-authenticate')).toBe(answer.status === 401 ? 'Bearer' : null);
    }
  });
});

describe.each(titledRoutes(V1_ROUTES.filter(({ bodies }) => bodies.length > 0)))(
  '%s: the body',
  (route, { bodies, needsBody }) => {
    const bad = (what: string, body: unknown, names: string | RegExp, status = 400): Case => ({
      route,
      what,
      body,
      names,
      status,
    });

    it('G2: must be a JSON object in UTF-8 without duplicate keys', () =>
      refusing.refusesAll([
        ...(needsBody ? [bad('none', '', /^The body /)] : []),
        ...['{', '{"a":1,}', 'a=1', '{"a":NaN}', '<x/>'].map((body) => bad(body, body, /^The body /)),
        ...['1', '"x"', '[{}]', 'true'].map((body) => bad(body, body, /^The body /)),
        ...(needsBody ? ['null', '[]'].map((body) => bad(body, body, /^The body /)) : []),
        bad('no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not valid UTF-8'),
        bad('a key twice', '{"a":1,"a":1}', '`a` twice'),
        bad('__proto__', '{"__proto__":1}', '`__proto__`'),
        bad('65 levels', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, '64 levels'),
        ...['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'].map(
          (type) => ({
            ...bad(type, '{}', 'Content-Type', 415),
            headers: { 'Content-Type': type },
          }),
        ),
        { ...bad('gzip', '{}', 'compressed', 415), headers: { 'Content-Encoding': 'gzip' } },
      ]));

    it('G4: must not have unknown fields', () =>
      refusing.refusesAll(
        bodies.flatMap(({ example }) =>
          ['nonesuch', 'constructor', 'id', '0', 'x'.repeat(1_000)].map((name) =>
            bad(`a field ${shown(name)}`, { ...example, [name]: 'x' }, 'is not a known field'),
          ),
        ),
      ));

    it('G2: is refused with values that the schema of a field does not allow; the message names the field', () =>
      refusing.refusesAll(
        bodies.flatMap(({ example, fields }) =>
          Object.entries(fields).flatMap(([field, takes]) =>
            VALUES.filter((value) => !takes(value) && !isOwnAnswer(route, value)).map((value) =>
              bad(`\`${field}\`: ${shown(value)}`, { ...example, [field]: value }, named(field)),
            ),
          ),
        ),
      ));

    it('G11: is refused with NUL or half of a surrogate pair in any field or key', () =>
      refusing.refusesAll(
        bodies.flatMap(({ example, fields }) =>
          IMPOSSIBLE.flatMap((evil) => [
            ...Object.keys(fields).map((field) =>
              bad(`\`${field}\`: ${shown(evil)}`, { ...example, [field]: evil }, named(field)),
            ),
            bad(`key ${shown(evil)}`, { ...example, [evil]: 1 }, /U\+0000|half of a surrogate pair/),
          ]),
        ),
      ));
  },
);

const ACTS = V1_ROUTES.filter(({ route, bodies }) => !route.startsWith('GET ') && bodies.length === 0);

it('G4: every route without a body is tested with one', () => expect(ACTS.length).toBeGreaterThanOrEqual(15));

describe.each(titledRoutes(ACTS))('%s: no body', (route) => {
  const notThere = { route, what: '', status: 404, names: /^There is no [\w ]+ with this id/ };

  it('G4: is the same as an empty body of any type, and as an empty object or array or null', async () => {
    await refusing.refusesAll(
      [undefined, '', '{}', ' { }', '[]', ' [ ]', 'null'].map((body) => ({ ...notThere, body })),
    );
    for (const type of ['text/plain', 'application/x-www-form-urlencoded'])
      await refusing.refuses({ ...notThere, body: '', headers: { 'Content-Type': type } });
    expectRefusal(await chunked(route, []), 404, notThere.names);
  });

  it('G4: is required: any content is refused', async () => {
    const bad = (body: string, names: string | RegExp): Case => ({ ...notThere, body, names, status: 400 });
    await refusing.refusesAll([
      bad('{"force":true}', '`force` is not a known field; this call takes no body, leave it out'),
      bad('{"a":null,"b":{}}', '`a` is not a known field; `b` is not a known field; this call'),
      ...['[{}]', '[[]]', '[null]', '"x"', '0'].map((body) => bad(body, 'The body must be a JSON object')),
      ...['{', ' ', 'cancel', '{"a":1,"a":2}', '{"__proto__":{}}'].map((body) => bad(body, /^The body /)),
      { ...bad('a=1', 'Content-Type'), status: 415, headers: { 'Content-Type': 'text/plain' } },
    ]);
    expectRefusal(await chunked(route, ['3\r\na=1\r\n']), 415, 'Content-Type');
  });
});

/** Sends a chunked body without a Content-Type. */
function chunked(route: string, chunks: readonly string[]) {
  const { stack } = refusing;
  const line = route.replace('{workspace_id}', stack.tenant.workspaceId).replaceAll(/\{\w+\}/g, 'x');
  const auth = `Authorization: Bearer ${stack.tenant.keys.editor}`;
  const lines = ['Host: x', 'Connection: close', auth, 'Transfer-Encoding: chunked'];
  return stack.api().raw([`${line} HTTP/1.1`, ...lines], `${chunks.join('')}0\r\n\r\n`);
}

const byPath = Map.groupBy(DOCUMENTED_ROUTES, ({ route }) => route.split(' ')[1]!);
/** Whether a route's pattern matches a path with any ids; a literal path belongs only to its own route. */
const takesPath = (pattern: string, path: string): boolean =>
  path.includes('{') ? takesAnyIds(pattern, path) : pattern === path;
const takesAnyIds = (pattern: string, path: string): boolean =>
  new RegExp(`^${pattern.replace(/\{\w+\}/g, '[^/]+')}$`).test(path);

describe.each([...byPath.keys()])('%s', (path) => {
  const there = METHODS.filter((method) =>
    DOCUMENTED_ROUTES.some(({ route }) => {
      const [ofRoute, pattern] = route.split(' ') as [string, string];
      return ofRoute === method && takesPath(pattern, path);
    }),
  );

  it.each(METHODS.filter((method) => !there.includes(method)))(
    'G2: answers 405 to %s with its allowed methods',
    async (method) => {
      const body = method === 'GET' ? undefined : '{}';
      const bad = { route: `${method} ${path}`, what: '', body, status: 405 };
      const answer = await refusing.send({ ...bad, names: '' });
      expectRefusal(answer, 405, `${method} is not allowed here; use `);
      expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(there));
    },
  );
});
