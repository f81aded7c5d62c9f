import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Case, shown } from './cases.ts';
import { type DocumentedBody, DocumentedInterface, type DocumentedRoute } from './documented-routes.ts';
import { RefusingStack } from './refusing-stack.ts';

/** What a field is given that its schema does not take. */
const VALUES: readonly unknown[] = [
  ...[
    null,
    true,
    false,
    0,
    -1,
    1.5,
    42,
    1e300,
    '',
    ' ',
    'x',
    '\n',
    'x'.repeat(100_000),
    'nonesuch',
    '2030-01-31',
  ],
  ...[[], [null], [[]], [1], [''], ['x', 'x'], [{}], {}, { a: 1 }, { '': null }, { toString: 'x' }],
];
const QUERY_VALUES: readonly string[] = [
  ...[
    '',
    '%20',
    'x',
    '0',
    '-1',
    '101',
    '1.5',
    '1e1',
    '+1',
    '%2B1',
    '0x1',
    '01x',
    'NaN',
    'null',
    'true',
    '%EF%BC%91',
    '1%00',
    '1%0a',
  ],
  ...[
    '[]',
    '{}',
    '%5B1%5D',
    '*',
    '1;2',
    '1,2',
    "'%20OR%201=1",
    '<script>',
    'createdAt',
    'CREATEDAT.DESC',
    'x'.repeat(2_000),
  ],
];
const IMPOSSIBLE = ['\0', 'a\0b', '\ud800', 'a\udfff'];

const refusing = RefusingStack.forFile();
let documented: DocumentedInterface;
let ofCallers: readonly DocumentedRoute[];

beforeAll(async () => {
  documented = await DocumentedInterface.readFrom(refusing.stack.api());
  ofCallers = documented.routes.filter(({ route }) => route.includes(' /v1/'));
});

/** Tries all of them, and shows all that were not refused as they should be. */
async function expectRefusals(cases: readonly Case[]): Promise<void> {
  expect(cases.length).toBeGreaterThan(0);
  const faults: string[] = [];
  for (const bad of cases) {
    await refusing.refuses(bad).catch((error: Error) => {
      faults.push(`${bad.route} ${bad.what}: ${error.message.split('\n').slice(2).join('\n')}`);
    });
  }
  expect(faults).toEqual([]);
}

const withBodies = (): [DocumentedRoute, DocumentedBody][] =>
  ofCallers.flatMap((route) =>
    route.bodies.map((body) => [route, body] as [DocumentedRoute, DocumentedBody]),
  );
const named = (field: string): RegExp => new RegExp(`\`${field}(\\[\\d+\\])?[.\`[]`);
const bad = (
  { route }: DocumentedRoute,
  what: string,
  body: unknown,
  names: string | RegExp,
  status = 400,
): Case => ({
  ...{ route, what, body, names, status },
});

describe('every route that the document describes', () => {
  it('E0, A1: is below /v1, and for callers with a key', () => {
    expect(ofCallers.map(({ route }) => route)).toEqual(expect.arrayContaining(['POST /v1/emails']));
    expect(ofCallers.filter(({ needsKey }) => !needsKey)).toEqual([]);
  });

  it('A2, G5: asks for a key before all else', () =>
    expectRefusals(
      ofCallers.map(({ route, bodies }) => ({
        ...{ route, what: 'without a key', status: 401, names: '`Authorization` header is missing' },
        ...{ body: bodies.length > 0 ? '{' : undefined, as: null },
      })),
    ));

  it('A4, K2, X3: lets no role in that it is not for, whatever it asks', async () => {
    const statuses: unknown[] = [];
    for (const route of ofCallers) {
      for (const role of route.forbiddenRoles) {
        const body = route.bodies.length > 0 ? '{' : undefined;
        const answer = await refusing.send({ ...bad(route, '', body, ''), as: role });
        statuses.push([route.route, role, answer.status]);
      }
    }
    expect(statuses.length).toBeGreaterThan(0);
    expect(statuses.filter((one) => ![401, 403].includes((one as [string, string, number])[2]))).toEqual([]);
  });

  it('G2: takes a body of JSON in UTF-8 alone', () =>
    expectRefusals(
      ofCallers
        .filter(({ bodies }) => bodies.length > 0)
        .flatMap((route) => [
          ...['', '{', '{"a":1,}', 'a=1', '{"a":NaN}', '<x/>'].map((body) =>
            bad(route, shown(body), body, /^The body /),
          ),
          ...['null', '1', '"x"', '[]', '[{}]', 'true'].map((body) => bad(route, body, body, /^The body /)),
          bad(route, 'no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), 'not valid UTF-8'),
          bad(route, 'a key twice', '{"a":1,"a":1}', '`a` twice'),
          bad(route, '__proto__', '{"__proto__":1}', '`__proto__`'),
          bad(route, '65 levels', `{"a":${'['.repeat(65)}${']'.repeat(65)}}`, '64 levels'),
          ...['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'].map(
            (type) => ({
              ...bad(route, type, '{}', 'Content-Type', 415),
              headers: { 'Content-Type': type },
            }),
          ),
          { ...bad(route, 'gzip', '{}', 'compressed', 415), headers: { 'Content-Encoding': 'gzip' } },
        ]),
    ));

  it('G4: takes no field that it does not know', () =>
    expectRefusals(
      withBodies().flatMap(([route, { example }]) =>
        ['nonesuch', 'constructor', 'id', '0', 'x'.repeat(1_000)].map((name) =>
          bad(route, `a field ${shown(name)}`, { ...example, [name]: 'x' }, 'is not a known field'),
        ),
      ),
    ));

  it('G2, G11: takes in a field what its schema takes, and names the field that has something else', () =>
    expectRefusals(
      withBodies().flatMap(([route, { example, fields }]) =>
        Object.entries(fields).flatMap(([field, schema]) =>
          VALUES.filter((value) => !documented.takes(schema, value)).map((value) =>
            bad(route, `\`${field}\`: ${shown(value)}`, { ...example, [field]: value }, named(field)),
          ),
        ),
      ),
    ));

  it('G11: takes no NUL and no half of a surrogate pair, in no field and no key', () =>
    expectRefusals(
      withBodies().flatMap(([route, { example, fields }]) =>
        IMPOSSIBLE.flatMap((evil) => [
          ...Object.keys(fields).map((field) =>
            bad(route, `\`${field}\`: ${shown(evil)}`, { ...example, [field]: evil }, named(field)),
          ),
          bad(route, `key ${shown(evil)}`, { ...example, [evil]: 1 }, /U\+0000|half of a surrogate pair/),
        ]),
      ),
    ));

  it('G3: takes a query as it is described, each parameter once', async () => {
    const routes = ofCallers.filter(({ query }) => query.length > 0);
    const cases = routes.flatMap((route) => [
      { ...bad(route, 'an unknown parameter', undefined, '`nonesuch` is not a known'), query: '?nonesuch=1' },
      ...route.query.flatMap(({ name, schema }) => [
        { ...bad(route, `${name} twice`, undefined, named(name)), query: `?${name}=1&${name}=2` },
        { ...bad(route, `${name}[]`, undefined, 'is not a known'), query: `?${name}[]=1` },
        ...QUERY_VALUES.filter((value) => !documented.takes(schema, asSchemaSees(value, schema))).map(
          (value) => ({
            ...bad(route, `${name}=${value}`, undefined, named(name)),
            query: `?${name}=${value}`,
          }),
        ),
      ]),
    ]);
    if (cases.length > 0) await expectRefusals(cases);
  });

  it('G2: has no other methods, and says which it has', async () => {
    const byPath = Map.groupBy(documented.routes, ({ route }) => route.split(' ')[1]!);
    for (const [path, routes] of byPath) {
      const methods = routes.map(({ route }) => route.split(' ')[0]!);
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].filter(
        (one) => !methods.includes(one),
      )) {
        const answer = await refusing.send({ ...bad(routes[0]!, '', '{}', ''), route: `${method} ${path}` });
        expect([method, path, answer.status]).toEqual([method, path, 405]);
        expect(answer.headers.get('allow')?.split(', ')).toEqual(expect.arrayContaining(methods));
      }
    }
  });
});

/** A query string says everything by texts; a schema of a number means its digits. */
function asSchemaSees(value: string, schema: Readonly<Record<string, unknown>>): unknown {
  const text = decodeURIComponent(value);
  return schema['type'] === 'integer' && /^\d+$/.test(text) ? Number(text) : text;
}
