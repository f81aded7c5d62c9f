import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { CONTROLLERS } from '../gateway.module.ts';
import type { Rule } from '../validation/rule.ts';
import { shapeOf } from '../validation/shape.ts';
import { compileSchema, OPERATIONS } from './document.fixture.ts';
import { classesOf, type DescribedClass, referredClass } from './json-schema.ts';
import { routesOf } from './routes.ts';

interface ValidatedField {
  readonly name: string;
  readonly rule: Rule;
  readonly isInQuery: boolean;
}

/** Their rule judges the array alone: an unsound item fails by itself, and the others are taken. */
const VALIDATED_PER_ITEM = [
  'SendBatchRequest.emails',
  'UpsertContactsRequest.contacts',
  'AddSuppressionsRequest.suppressions',
];

/** Every field of every request, those inside of other fields too. */
const FIELDS: ValidatedField[] = routesOf(CONTROLLERS).flatMap(({ description: { body, query } }) => [
  ...classesOf(body).flatMap((one) => fieldsOf(one, false)),
  ...(query === undefined ? [] : fieldsOf(query, true)),
]);

function fieldsOf(requestClass: DescribedClass, isInQuery: boolean): ValidatedField[] {
  return shapeOf(requestClass).fields.flatMap(({ field, rule }) => {
    const inner = referredClass(rule.schema);
    const name = `${requestClass.name}.${field}`;
    if (VALIDATED_PER_ITEM.includes(name)) return [];
    return [{ name, rule, isInQuery }, ...(inner === undefined ? [] : fieldsOf(inner, isInQuery))];
  });
}

const TEXTS = [
  ...[
    '',
    ' ',
    'x',
    'true',
    '0',
    '-1',
    '1.5',
    '10',
    '101',
    'x'.repeat(99),
    'x'.repeat(256),
    'x'.repeat(2_001),
  ],
  ...['😀'.repeat(255), '😀'.repeat(998), '😀'.repeat(1_001), 'a\nb', 'a\0b', '\u0085', '\u202ea', 'ünïcode'],
  ...['a@b.co', 'A <a@b.co>', 'a@b', 'a@b.co, c@d.co', '@', `${'x'.repeat(64)}@b.co`, 'a@b.co\r\n'],
  ...['2030-01-31T09:30:00Z', '2030-01-31T09:30Z', '2030-02-31T09:30:00Z', '2030-01-31', 'tomorrow'],
  ...[
    'https://example.com/hook',
    'http://localhost',
    'EDITOR',
    'API_USER',
    'ACTIVE',
    'createdAt.asc',
    'SENT',
  ],
];
const OTHERS: unknown[] = [
  ...[null, true, false, 0, 1, -1, 1.5, 1e300, [], {}, [[]], [{}], [null], ['a@b.co', 1], ['EMAIL_SENT']],
  ...[Array(6).fill('a@b.co'), Array(51).fill('x'), { trackOpens: 1 }, { trackOpens: true }, { x: 1 }],
  Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`key${index}`, index])),
];
const KINDS = [null, true, 1, 1.5, 'x\0', ['x\0'], {}, [{}]];

/** A query string holds texts; its schema speaks of what they stand for. */
function toSchemaValue(value: unknown, { isInQuery, rule }: ValidatedField): unknown {
  const isNumber = isInQuery && rule.schema['type'] === 'integer';
  return isNumber && typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value;
}

describe.each(FIELDS.map((field) => [field.name, field] as const))('the schema of %s', (name, field) => {
  const isTaken = compileSchema(field.rule.schema);
  const takes = (value: unknown): boolean => isTaken(toSchemaValue(value, field));
  const ruleTakes = (value: unknown): boolean => field.rule(value, name) === undefined;

  it('accepts what the rule accepts', () => {
    const values = fc.oneof(
      fc.constantFrom(...TEXTS, ...(field.isInQuery ? [] : OTHERS)),
      fc.string({ unit: 'binary', maxLength: 300 }),
      fc.emailAddress(),
      ...(field.isInQuery ? [] : [fc.jsonValue(), fc.array(fc.emailAddress(), { maxLength: 7 })]),
    );
    fc.assert(
      fc.property(values, (value) => {
        if (ruleTakes(value) && !takes(value)) throw new Error(JSON.stringify(isTaken.errors));
      }),
      { numRuns: 300 },
    );
    for (const value of field.isInQuery ? TEXTS : [...TEXTS, ...OTHERS]) {
      if (ruleTakes(value)) expect([value, takes(value)]).toEqual([value, true]);
    }
  });

  it('refuses a value of another type, as the rule does', () => {
    if (field.isInQuery) return;
    const wrong = KINDS.filter((value) => !takes(value));
    expect(wrong.length).toBeGreaterThanOrEqual(4);
    expect(wrong.filter(ruleTakes)).toEqual([]);
    const right = KINDS.filter(takes);
    // What a schema takes and the rule does not is a matter of content, which schemas cannot say.
    for (const value of right) expect(field.rule(value, name) ?? '').not.toMatch(/; give an? \w+$/);
  });
});

it('accepts every example of a body, as the rules do', () => {
  const classes = new Map(
    routesOf(CONTROLLERS).flatMap(({ description: { name, body } }) => [[name, classesOf(body)]]),
  );
  for (const [, { operationId, requestBody }] of OPERATIONS) {
    for (const { value } of Object.values(requestBody?.content['application/json']?.examples ?? {})) {
      const validated = classes.get(operationId)!.map((one) => {
        const { fields, names } = shapeOf(one);
        const object = value as Record<string, unknown>;
        const unknown = Object.keys(object).filter((name) => !names.includes(name));
        const faults = fields.flatMap(({ field, rule }) => rule(object[field], field) ?? []);
        return [...unknown, ...faults];
      });
      // One of the classes that the body may be of takes it whole.
      expect(validated).toContainEqual([]);
    }
  }
});
