import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { EVENT_NAMES, JSON_LEVELS, type Size, SIZES, WORKSPACE_LIMITS } from '@posthorn/domain';
import { DOCUMENT, OPERATIONS } from './document.fixture.ts';
import type { JsonSchema } from './json-schema.ts';

const read = (path: string): string => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const contract = read('docs/contract.md');
const awaited = JSON.parse(read('test/untested-rules.json')) as string[];
const routes = OPERATIONS.map(([route]) => route);
/** The routes that the contract names, by their rules. */
const named = new Map(
  [...contract.matchAll(/^\| (E\d+) +\| `([A-Z]+ \/v1\/[^`]*)`/gm)].map(([, rule, route]) => [rule!, route!]),
);

describe('docs/contract.md compared with the document', () => {
  it('E0: has no route that does not exist', () => {
    expect(named.size).toBe(18);
    const missing = [...named].filter(([rule, route]) => !routes.includes(route) && !awaited.includes(rule));
    expect(missing).toEqual([]);
  });

  it('E18: has every path of the API, by itself or as one of a family', () => {
    const families = familiesOf(sectionOf('E18'));
    expect(families).toContain('/v1/templates');
    const own = [...named.values()];
    const unnamed = routes.filter((route) => !own.includes(route) && !isBelow(pathOf(route), families));
    expect(unnamed.filter((route) => !isBelow(pathOf(route), familiesOf(sectionOf('E0'))))).toEqual([]);
  });

  it('E0: changes nothing with PUT or PATCH, and takes bodies with POST alone', () => {
    const withBody = OPERATIONS.filter(([, { requestBody }]) => requestBody !== undefined);
    const methods = (of: readonly string[]): string[] => [
      ...new Set(of.map((route) => route.split(' ')[0]!)),
    ];
    expect(methods(routes).sort()).toEqual(['DELETE', 'GET', 'POST']);
    expect(methods(withBody.map(([route]) => route))).toEqual(['POST']);
  });

  it('G8: has the prefix of every id', () => {
    const listed = [...sectionOf('G8').matchAll(/`([a-z]{2,3})`/g)].map(([, prefix]) => prefix!);
    const patterns = JSON.stringify(DOCUMENT).matchAll(/"\^([a-z]+)_\[0-7\]/g);
    const used = [...new Set([...patterns].map(([, prefix]) => prefix!))];
    expect(used).toEqual(expect.arrayContaining(['trs', 'wh']));
    expect(used.filter((prefix) => !listed.includes(prefix))).toEqual([]);
  });

  it('A3, K2: reads with `user`, changes with `api_user`, and manages with the role EDITOR alone', () => {
    const asked = routes.filter((route) => pathOf(route).startsWith('/v1/'));
    const needs = Object.fromEntries(asked.map((route) => [route, roleNeededFor(route)]));
    expect(Object.fromEntries(asked.map((route) => [route, documentedRole(route)]))).toEqual(needs);
  });

  it('G11: has the sizes', () => {
    const rows = sectionOf('G11').matchAll(/^\| (.+?) +\| (.+?) +\| (?:400|413) /gm);
    const sizes = Object.fromEntries([...rows].map(([, what, atMost]) => [what!, atMost!]));
    expect(sizes).toMatchObject({
      'body': `${inWords(SIZES.body)}, of a batch ${inWords(SIZES.batchBody)}`,
      '`html`, `text`': `${inWords(SIZES.html)} each`,
      '`subject`': inWords(SIZES.subject),
      '`previewText`': inWords(SIZES.previewText),
      '`groupBy`, `idempotencyKey`': inWords(SIZES.groupBy),
      '`fromName`, names of addresses': inWords(SIZES.displayName),
      '`variables`': `${inWords(SIZES.variables)} as JSON`,
      '`contactProperties`': `${inWords(SIZES.contactPropertyKeys)}, ${inWords(SIZES.contactProperties)} as JSON`,
      'each of the two': `${JSON_LEVELS} levels`,
      'contacts of a batch': String(SIZES.contactBatch.max),
      'suppressions of a batch': String(SIZES.suppressionBatch.max),
    });
    expect([SIZES.text, SIZES.idempotencyKey]).toEqual([SIZES.html, SIZES.groupBy]);
  });

  it('G11: and so has the document', () => {
    const said = JSON.stringify(DOCUMENT.components).matchAll(/up to (?:\d+ keys, )?(\d+ [KM]iB)/gi);
    expect([...new Set([...said].map(([, size]) => size!))].sort()).toEqual(
      [SIZES.html, SIZES.variables, SIZES.contactProperties, SIZES.attachedFiles].map(inWords).sort(),
    );
  });

  it('G11: has the limits of a workspace', () => {
    const rows = sectionOf('G11').matchAll(
      /^\| (?:open )?([a-zA-Z ]+) of a workspace +\| ([\d,]+) +\| 409/gm,
    );
    const limits = [...rows].map(([, what, max]) => [what!.toLowerCase(), Number(max!.replace(',', ''))]);
    const { apiKeys, ...others } = WORKSPACE_LIMITS;
    expect(Object.fromEntries(limits)).toEqual({ 'api keys': apiKeys, ...others });
  });

  it('N1, W12: has every event', () => {
    const named = [...`${sectionOf('N1')}${sectionOf('W12')}`.matchAll(/`([A-Z_]+)`/g)].map(
      ([, name]) => name!,
    );
    expect([...new Set(named)].sort()).toEqual([...EVENT_NAMES].sort());
  });

  it.each([
    ['docs/contract.md', sectionOf('F1')],
    ['docs/api.md', /^## POST \/v1\/emails$[^]*?(?=^## )/m.exec(read('docs/api.md'))![0]],
  ])('F1: has every field of a raw email, and says which are required: %s', (_page, section) => {
    const { RawEmailRequest } = DOCUMENT.components['schemas'] as {
      RawEmailRequest: { properties: Record<string, JsonSchema>; required: readonly string[] };
    };
    const { properties, required } = RawEmailRequest;
    const fields = Object.keys(properties).map((field) => [field, required.includes(field)]);
    expect(fieldsOfTable(section).sort()).toEqual(fields.sort());
  });
});

const pathOf = (route: string): string => route.split(' ')[1]!;
const isBelow = (path: string, families: readonly string[]): boolean =>
  families.some((family) => path === family || path.startsWith(`${family}/`));

/** A size as the documents write it. */
function inWords({ max, unit }: Size): string {
  if (unit !== 'bytes') return `${max.toLocaleString('en-US')} ${unit}`;
  return max % 1_048_576 === 0 ? `${max / 1_048_576} MiB` : `${max / 1_024} KiB`;
}

/** The fields in the first table of a text, and whether each is required. */
function fieldsOfTable(text: string): [field: string, isRequired: boolean][] {
  const [table] = /(?:^\|.*\n)+/m.exec(text)!;
  const rows = table.matchAll(/^\| `(\w+)` +\| [^|]+ +\| (yes)? +\|/gm);
  return [...rows].map(([, field, required]) => [field!, required === 'yes']);
}

/** The least role that may use a route, by the contract. */
function roleNeededFor(route: string): string {
  if (/api-keys$|api-keys\/\{|audit-log/.test(route)) return 'EDITOR';
  const isReading = route.startsWith('GET ') || route.endsWith('/preview');
  if (isReading) return route === 'GET /v1/webhooks' ? 'API_USER' : 'VIEWER';
  const isManaging = /\/v1\/(identities|templates|members|invitations|erasures)/.test(route);
  return isManaging && !route.endsWith('/test') ? 'EDITOR' : 'API_USER';
}

/** The least role that may use a route, as the document says it. */
function documentedRole(route: string): string {
  const operation = new Map(OPERATIONS).get(route) as unknown as { description: string };
  const roles = /Needs a key with the role (.*)\./.exec(operation.description)?.[1];
  return ['VIEWER', 'API_USER', 'EDITOR'].find((role) => roles?.includes(`\`${role}\``) ?? true)!;
}

/** The text of a rule that has a heading. */
function sectionOf(rule: string): string {
  return new RegExp(`^### ${rule} .*\\n([^]*?)(?=^#)`, 'm').exec(contract)![1]!;
}

/** The paths that a text has between backticks. */
function familiesOf(text: string): string[] {
  return [...text.matchAll(/`(\/[\w./-]+)`/g)].map(([, path]) => path!);
}
