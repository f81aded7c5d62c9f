import { describe, expect, it } from '@jest/globals';
import { deliveryHeaders, EVENT_NAMES, EVENTS, type EventName } from '@posthorn/domain';
import { newId } from '@posthorn/kernel';
import { signBody, signMessage, webhookKey } from '@posthorn/signing';
import { DOCUMENT, compileSchema, type TestedOperation } from './document.fixture.ts';
import { DELIVERY_PARAMETERS } from './delivery-parameters.ts';
import type { JsonSchema } from './json-schema.ts';

interface Header {
  readonly name: string;
  readonly schema: JsonSchema;
}

const HEADERS = Object.values(DELIVERY_PARAMETERS) as unknown as Header[];
const schemas = DOCUMENT.components['schemas'] as Record<string, JsonSchema>;
const posts = Object.entries(DOCUMENT.webhooks).map(
  ([name, { post }]) => [name as EventName, post as unknown as TestedOperation] as const,
);

describe('W11, W12: the webhooks of the document', () => {
  it('are all events, each with its description', () => {
    expect(posts.map(([name]) => name)).toEqual(EVENT_NAMES);
    for (const [name, post] of posts) expect(post).toMatchObject({ summary: EVENTS[name].meaning });
    const names = posts.map(([, { operationId }]) => operationId);
    expect(names).toContain('onContactCreated');
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(posts)('%s has an example that its schema takes, and that of no other event', (name, post) => {
    const { schema, examples } = post.requestBody!.content['application/json']!;
    const validate = compileSchema(schema);
    expect([validate(examples['event']!.value), validate.errors]).toEqual([true, null]);
    const others = posts.filter(([other]) => other !== name);
    const taken = others.filter(([, { requestBody }]) =>
      validate(requestBody!.content['application/json']!.examples['event']!.value),
    );
    expect(taken).toEqual([]);
  });

  it('W12: have examples of what each event says of its email', () => {
    const dataOf = new Map(
      posts.map(([name, { requestBody }]) => [
        name,
        (requestBody!.content['application/json']!.examples['event']!.value as { data: object }).data,
      ]),
    );
    expect(dataOf.get('EMAIL_BOUNCED')).toMatchObject({
      email: { status: 'BOUNCED', type: 'raw', from: 'shop@example.com', subject: 'Your receipt' },
      class: 'unknown_user',
      reply: { code: 550 },
    });
    expect(dataOf.get('EMAIL_DELIVERED')).toMatchObject({ email: { status: 'DELIVERED' } });
    expect(dataOf.get('EMAIL_CLICKED')).toHaveProperty('url');
  });

  it('describe the answers of a receiver: 2xx, 410, or any other, which causes a retry', () => {
    for (const [, { responses }] of posts) expect(Object.keys(responses)).toEqual(['410', '2XX', 'default']);
  });

  it('W6: have exactly the headers that are sent, valid by their schemas', () => {
    const [eventId, deliveryId] = [newId('evt', Date.now()), newId('dlv', Date.now())];
    const message = { id: eventId, unixSeconds: 1_893_456_000, body: Buffer.from('{}') };
    const {
      'content-type': _,
      'user-agent': __,
      ...sent
    } = deliveryHeaders({
      event: 'CONTACT_CREATED',
      isTest: true,
      eventId,
      deliveryId,
      attempt: 2,
      unixSeconds: message.unixSeconds,
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
      bodySignature: signBody(message.body, webhookKey('a token')),
      messageSignature: signMessage(message, ['a token', 'another'].map(webhookKey)),
    });
    expect(HEADERS.map(({ name }) => name.toLowerCase()).sort()).toEqual(Object.keys(sent).sort());
    for (const { name, schema } of HEADERS) {
      const value = sent[name.toLowerCase()]!;
      expect([name, compileSchema(schema)(schema['type'] === 'integer' ? Number(value) : value)]).toEqual([
        name,
        true,
      ]);
    }
  });
});

describe('N5: an event of the feed', () => {
  const { oneOf, discriminator } = schemas['KnownFeedEvent'] as {
    oneOf: { $ref: string }[];
    discriminator: { propertyName: string; mapping: Record<string, string> };
  };
  const eventOf = (event: EventName, dataOf: EventName): object => {
    const item = { id: newId('evt', 0), event, createdAt: new Date(0).toISOString() };
    return { ...item, data: EVENTS[dataOf].data.example };
  };

  it('has the data that its name says', () => {
    const validate = compileSchema({ $ref: '#/components/schemas/FeedEvent' });
    expect(EVENT_NAMES.filter((event) => !validate(eventOf(event, event)))).toEqual([]);
    expect(validate(eventOf('CONTACT_CREATED', 'EMAIL_SENT'))).toBe(false);
    expect(validate(eventOf('EMAIL_SENT', 'CONTACT_CREATED'))).toBe(false);
  });

  it('E0: can be one that does not exist yet', () => {
    const isEvent = compileSchema({ $ref: '#/components/schemas/FeedEvent' });
    const added = { ...eventOf('EMAIL_SENT', 'EMAIL_SENT'), event: 'EMAIL_FORWARDED' };
    expect(isEvent(added)).toBe(true);
    expect(compileSchema({ $ref: '#/components/schemas/KnownFeedEvent' })(added)).toBe(false);
  });

  it('is of the kind that the discriminator says', () => {
    expect(discriminator.propertyName).toBe('event');
    expect(Object.keys(discriminator.mapping)).toEqual(EVENT_NAMES);
    expect(new Set(Object.values(discriminator.mapping))).toEqual(new Set(oneOf.map(({ $ref }) => $ref)));
    for (const [event, $ref] of Object.entries(discriminator.mapping)) {
      const validate = compileSchema({ $ref });
      expect([event, validate(eventOf(event as EventName, event as EventName))]).toEqual([event, true]);
    }
  });
});
