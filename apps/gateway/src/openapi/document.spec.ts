import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Controller, Get, Post } from '@nestjs/common';
import { RELEASE } from '@posthorn/kernel';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Optional, Required } from '../validation/rule.ts';
import { flag } from '../validation/object-rules.ts';
import { count, text } from './answer-schemas.ts';
import { documentOf } from './document.ts';
import { DOCUMENT, compileSchema, OPERATIONS, type TestedContent } from './document.fixture.ts';
import { Describes } from './describes.ts';
import { type JsonSchema, nameSchema, referenceTo } from './json-schema.ts';
import { routesOf } from './routes.ts';
import { AnswerField } from './answer-field.ts';

const copy = JSON.parse(JSON.stringify(DOCUMENT)) as Record<string, unknown>;

function responsesIn(responses: Readonly<Record<string, object>>): [string, TestedContent][] {
  const shared = (copy['components'] as { responses: Record<string, object> }).responses;
  return Object.entries(responses).flatMap(([status, response]): [string, TestedContent][] => {
    const { $ref } = response as { $ref?: string };
    const whole = $ref === undefined ? response : shared[$ref.split('/').at(-1)!]!;
    const { content } = whole as { content?: TestedContent };
    // Only what leads elsewhere has none, and what is known already.
    if (content === undefined) expect(['302', '304']).toContain(status);
    return content === undefined ? [] : [[status, content]];
  });
}

function faultsIn(content: TestedContent): unknown[] {
  const json = content['application/json'];
  if (json === undefined) return [];
  const validate = compileSchema(json.schema);
  return Object.values(json.examples).flatMap(({ value }) =>
    validate(value) ? [] : [value, validate.errors],
  );
}

describe('the OpenAPI document', () => {
  it('is valid OpenAPI 3.1', async () => {
    expect(await new Validator().validate(copy)).toEqual({ valid: true });
  });

  it('is rejected by the validator when it is invalid', async () => {
    const { valid } = await new Validator().validate({ ...copy, paths: { x: 1 } });
    expect(valid).toBe(false);
  });

  it('names its release and its server', () => {
    expect(copy).toMatchObject({
      openapi: '3.1.0',
      info: { version: RELEASE },
      servers: [{ url: 'https://mail.example.com' }],
    });
  });

  it('has no dangling references', () => {
    const references = [...JSON.stringify(copy).matchAll(/"\$ref":"#([^"]+)"/g)].map(([, path]) => path!);
    const held = (path: string): unknown =>
      path
        .slice(1)
        .split('/')
        .reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], copy);
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((path) => held(path) === undefined)).toEqual([]);
  });

  it('has only schemas that are JSON Schema', () => {
    const { schemas } = copy['components'] as { schemas: Record<string, JsonSchema> };
    for (const schema of Object.values(schemas))
      expect(new Ajv2020().validateSchema(schema, true)).toBe(true);
  });

  it('has no unused components', () => {
    const text = JSON.stringify(copy);
    const { securitySchemes: _, ...components } = copy['components'] as Record<string, object>;
    const paths = Object.entries(components).flatMap(([kind, parts]) =>
      Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
    );
    expect(paths.filter((path) => !text.includes(`"${path}"`))).toEqual([]);
  });

  it('has a name for what is in a list, by which clients can pass it on', () => {
    const { schemas } = copy['components'] as { schemas: Record<string, JsonSchema> };
    const pages = Object.entries(schemas).filter(([name]) => name.endsWith('Page'));
    const shown = pages.map(([name, { properties }]) => [
      name,
      (properties as { items: { items: object } }).items.items,
    ]);
    expect(shown.length).toBeGreaterThan(10);
    expect(shown.filter(([, items]) => !('$ref' in (items as object)))).toEqual([]);
  });

  it('E0: takes words in answers that do not exist yet, and names those that do', () => {
    const { schemas } = copy['components'] as { schemas: Record<string, JsonSchema> };
    const opened = Object.entries(schemas).flatMap(([name, { properties = {} }]) =>
      Object.entries(properties as Record<string, JsonSchema>).flatMap(([field, schema]) => {
        const known = schema['x-known-values'] as JsonSchema | undefined;
        if (known === undefined || 'not' in schema) return [];
        const isKnown = compileSchema(known);
        const word = (schema['examples'] as (string | null)[]).find((one) => one !== null)!;
        expect([name, field, isKnown(word), isKnown(`NEW_${word}`)]).toEqual([name, field, true, false]);
        expect([name, field, compileSchema(schema)(`NEW_${word}`)]).toEqual([name, field, true]);
        return [`${name}.${field}`];
      }),
    );
    expect(opened).toEqual(
      expect.arrayContaining(['Email.status', 'EventEmail.status', 'DeliveryAttempt.error']),
    );
  });

  it('has no list of words without a name, except what decides which fields are beside it', () => {
    const lists = [...JSON.stringify(copy['paths']).matchAll(/"enum":\[[^\]]*\]/g)].map(([list]) => list);
    const { schemas } = copy['components'] as { schemas: Record<string, JsonSchema> };
    const inside = Object.entries(schemas).flatMap(([name, schema]) =>
      'enum' in schema || !JSON.stringify(schema).includes('"enum"') ? [] : [name],
    );
    expect(inside.filter((name) => !name.endsWith('Event'))).toEqual(['UpsertContactRequest']);
    // Of the service's own pages.
    expect(lists).toHaveLength(2);
  });

  it('has an example for every body and every answer, valid by its schema', () => {
    for (const [name, { requestBody, responses }] of OPERATIONS) {
      const contents = responsesIn(responses);
      if (requestBody !== undefined) contents.push(['body', requestBody.content]);
      for (const [part, content] of contents) {
        const [only] = Object.values(content);
        expect([name, part, Object.keys(only?.examples ?? {})]).not.toEqual([name, part, []]);
        expect([name, part, faultsIn(content)]).toEqual([name, part, []]);
      }
    }
  });

  it.each<[string, object]>([
    ['rescheduleEmail', { email: { status: 'SCHEDULED', sentAt: null, sendAt: expect.any(String) } }],
    ['cancelEmail', { email: { status: 'CANCELLED', sentAt: null } }],
    ['readEmail', { email: { status: 'SENT', timeline: [{ event: 'ACCEPTED' }, { event: 'SENT' }] } }],
    ['deleteApiKey', { apiKey: { status: 'ARCHIVED' }, isDeleted: true }],
    ['revokeInvitation', { invitation: { status: 'REVOKED', revokedAt: expect.any(String) } }],
    ['unsubscribeContact', { contact: { status: 'UNSUBSCRIBED', unsubscribedAt: expect.any(String) } }],
    ['resubscribeContact', { contact: { status: 'SUBSCRIBED', unsubscribedAt: null } }],
  ])('shows as the answer of %s what it comes to', (name, shown) => {
    const [, route] = OPERATIONS.find(([, { operationId }]) => operationId === name)!;
    const { examples } = route.responses['200']!.content!['application/json']!;
    expect(Object.values(examples)[0]!.value).toMatchObject(shown);
  });

  it('declares security and its refusals for every route with a key', () => {
    for (const [name, { security, responses }] of OPERATIONS) {
      const statuses = Object.keys(responses);
      if (name.includes(' /v1/')) expect([name, security]).toEqual([name, [{ apiKey: [] }]]);
      if (security.length > 0) {
        expect([name, statuses]).toEqual([name, expect.arrayContaining(['200', '401', '429', '503'])]);
      }
    }
  });

  it('G2: has the error body for every answer that no route describes', () => {
    const shared = copy['components'] as { responses: Record<string, { content: TestedContent }> };
    const { schema } = shared.responses['OtherError']!.content['application/json']!;
    expect(schema).toEqual({ $ref: '#/components/schemas/ErrorAnswer' });
    const api = OPERATIONS.filter(([name]) => name.includes(' /v1/'));
    expect(api.length).toBeGreaterThan(50);
    for (const [name, { responses }] of api) {
      const others = { $ref: '#/components/responses/OtherError' };
      expect([name, responses['default']]).toEqual([name, others]);
    }
  });

  it('R2: has the rate limit headers with every answer, and Retry-After where it is sent', () => {
    for (const [name, { responses }] of OPERATIONS) {
      for (const [status, response] of Object.entries(responses)) {
        const shared = DOCUMENT.components['responses'] as typeof responses;
        const answer = response.$ref === undefined ? response : shared[response.$ref.split('/').at(-1)!];
        const wait = ['429', '503'].includes(status) ? ['Retry-After'] : [];
        const all = ['X-Request-Id', 'RateLimit', 'RateLimit-Policy', ...wait];
        const headers = Object.keys(answer?.headers ?? {});
        expect([name, status, headers]).toEqual([name, status, expect.arrayContaining(all)]);
      }
    }
  });
});

class ThingRequest {
  @Required(flag, 'Whether it is.', { example: true })
  isIt!: boolean;

  @Optional(flag, 'Whether it was.')
  wasIt?: boolean;
}

class ThingAnswer {
  @AnswerField('How many.', count, { example: 1 })
  count!: number;
}

class MuteAnswer {
  @AnswerField('A text.', text)
  text!: string;
}

describe('a route', () => {
  const common = { tag: 'Service', summary: 'x' } as const;

  it('without a description is reported', () => {
    @Controller('things')
    class Silent {
      @Get(':thing')
      read(): void {}
    }
    expect(() => routesOf([Silent])).toThrow('get /things/{thing} does not describe itself; add @Describes');
  });

  it('that lacks an example, a unique name, or a known id in its path is reported', () => {
    @Controller('things')
    class Poor {
      @Get('a')
      @Describes({ ...common, name: 'a', answer: MuteAnswer })
      a(): void {}

      @Get('b/:thing')
      @Describes({ ...common, name: 'b', answer: ThingAnswer })
      b(): void {}

      @Post('c')
      @Describes({ ...common, name: 'c', answer: ThingAnswer, body: ThingRequest })
      c(): void {}

      @Get('d')
      @Describes({ ...common, name: 'd', answer: ThingAnswer, exampleOverrides: { cuont: 2 } })
      d(): void {}
    }
    const [a, b, c, d] = routesOf([Poor]) as [never, never, never, never];
    expect(() => documentOf([d], '')).toThrow('no example has cuont');
    expect(() => documentOf([a], '')).toThrow('MuteAnswer.text needs an example');
    expect(() => documentOf([b], '')).toThrow('the part {thing} of a path is not in PATH_IDS');
    expect(() => documentOf([c, c], '')).toThrow('2 routes are called c');
    expect(documentOf([c], '').components['schemas']).toMatchObject({
      ThingRequest: {
        type: 'object',
        required: ['isIt'],
        additionalProperties: false,
        properties: { isIt: { type: 'boolean', description: 'Whether it is.', examples: [true] } },
      },
      ThingAnswer: { required: ['count'], properties: { count: { type: 'integer', minimum: 0 } } },
    });
  });

  it('cannot have a class with the name of another class', () => {
    const first = class Twin {};
    referenceTo(first);
    expect(referenceTo(first)).toEqual({ $ref: '#/components/schemas/Twin' });
    expect(() => referenceTo(class Twin {})).toThrow('two classes of the interface are called Twin');
    nameSchema('TwinWord', { enum: ['A'] });
    expect(nameSchema('TwinWord', { enum: ['A'] })).toEqual({ $ref: '#/components/schemas/TwinWord' });
    expect(() => nameSchema('TwinWord', { enum: ['B'] })).toThrow(
      'two schemas of the interface are called TwinWord',
    );
  });
});
