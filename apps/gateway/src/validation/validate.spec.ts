import { describe, expect, it } from '@jest/globals';
import { Refusal } from '@posthorn/kernel';
import { parse } from 'node:querystring';
import { PageQuery } from '../paging/page-query.ts';
import { validateBody } from './validate-body.ts';
import { validateQuery } from './validate-query.ts';
import { flag } from './object-rules.ts';
import { Optional, Required } from './rule.ts';
import { oneOfWords, singleLine, timestamp } from './text-rules.ts';

class HookRequest {
  @Required(oneOfWords('Opening', ['OPENED', 'CLICKED']), 'The event.')
  event!: string;

  @Optional(singleLine({ max: 5, unit: 'characters' }), 'The name.')
  name?: string;

  @Optional(flag, 'Whether it is on.')
  isOn = true;
}

class NameRequest {
  @Required(singleLine({ max: 5, unit: 'characters' }), 'The name.')
  name!: string;
}

function messageOf(validate: () => object): string {
  try {
    return `taken: ${JSON.stringify(validate())}`;
  } catch (error) {
    if (error instanceof Refusal && error.statusCode === 400) return error.message;
    throw error;
  }
}

describe('validateBody', () => {
  const message = (body: unknown): string => messageOf(() => validateBody(HookRequest, body));

  it('gives an instance, with the defaults of the class for absent fields', () => {
    const request = validateBody(HookRequest, { event: 'OPENED' });
    expect(request).toBeInstanceOf(HookRequest);
    expect({ ...request }).toEqual({ event: 'OPENED', isOn: true });
    expect(validateBody(HookRequest, { event: 'OPENED', isOn: false }).isOn).toBe(false);
  });

  it.each([[undefined], [null], [[]], ['x'], [1]])('refuses %j as a body', (body) => {
    expect(message(body)).toMatch(/^The body is .+; give an object$/);
  });

  it('reports all faults at once, including unknown fields', () => {
    expect(message({ event: 'CLICKD', name: 'a\nb', isOn: null, nam: 1 })).toBe(
      [
        '`event` is not one of the known values; give one of `OPENED`, `CLICKED`; did you mean `CLICKED`?',
        '`name` holds a line break (U+000A) at character 2; remove it',
        '`isOn` is null; give it a value or leave it out',
        '`nam` is not a known field; did you mean `name`?',
      ].join('; '),
    );
    expect(message({ event: 5 })).toBe('`event` is a number; give one of `OPENED`, `CLICKED`');
    expect(message({})).toBe('`event` is missing; give one of `OPENED`, `CLICKED`');
    expect(timestamp(undefined, 'at')).toBe(
      '`at` is missing; give a date, a time and an offset or `Z`, as in `2030-01-31T09:30:00Z`',
    );
  });

  it('names the only field that there is', () => {
    expect(messageOf(() => validateBody(NameRequest, { name: 'x', subject: 'y' }))).toBe(
      '`subject` is not a known field; there is only `name`',
    );
  });

  it('is not misled by names of inherited properties', () => {
    expect(message(JSON.parse('{"event":"OPENED","__proto__":{"isOn":false},"constructor":1}'))).toBe(
      '`__proto__` is not a known field; `constructor` is not a known field; there are `event`, `name`, `isOn`',
    );
  });
});

describe('validateQuery', () => {
  const message = (query: string): string => messageOf(() => validateQuery(PageQuery, parse(query)));

  it.each([
    ['', {}],
    ['limit=1&sort=createdAt.asc&startAt=x', { limit: '1', sort: 'createdAt.asc', startAt: 'x' }],
    ['limit=100', { limit: '100' }],
  ])('takes %j', (query, parameters) => {
    expect({ ...validateQuery(PageQuery, parse(query)) }).toEqual(parameters);
  });

  it.each([
    ['limit=0', '`limit` is 0; give a whole number from 1 to 100'],
    ['limit=101', '`limit` is 101; give a whole number from 1 to 100'],
    ['limit=01', '`limit` begins with a zero; give a whole number from 1 to 100'],
    ['limit=1e1', '`limit` is not a whole number; give a whole number from 1 to 100'],
    ['limit=', '`limit` is not a whole number; give a whole number from 1 to 100, or leave it out'],
    ['limit=1&limit=2', '`limit` is given more than once; give it once'],
    ['sort=up', '`sort` is not one of the known values; give one of `createdAt.desc`, `createdAt.asc`'],
    ['limt=1', '`limt` is not a known field; did you mean `limit`?'],
    ['limit[]=1', '`limit[]` is not a known field; there are `limit`, `sort`, `startAt`'],
    ['__proto__=1', '`__proto__` is not a known field; there are `limit`, `sort`, `startAt`'],
    [
      'cursor=x&page=2',
      '`cursor` is not a known field; `page` is not a known field; there are `limit`, `sort`, `startAt`',
    ],
    ['startAt=', '`startAt` is empty; give at least 1 character, or leave it out'],
    [
      'limit=+1',
      '`limit` is not a whole number; give a whole number from 1 to 100; in a query `+` is a space, write `%2B` for the sign',
    ],
    ['startAt=a%00', '`startAt` holds a NUL (U+0000) at character 2; remove it'],
  ])('refuses %j', (query, expected) => {
    expect(message(query)).toBe(expected);
  });
});
