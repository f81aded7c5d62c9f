import { EVENT_NAMES, type EventName, eventShape, EVENTS, exampleEventData } from '@posthorn/domain';
import type { WorkspaceId } from '@posthorn/kernel';
import { DELIVERY_PARAMETERS } from './delivery-parameters.ts';
import type { OpenApiDocument, Part } from './document-types.ts';
import { FEED_EVENT_SCHEMAS, feedEventSchema } from './feed-events.ts';
import { type JsonSchema, referenceNamed, withNamedWords } from './json-schema.ts';
import type { Tag } from './tags.ts';

const TAG: Tag = 'Webhooks';
const DESCRIPTION =
  'Posted to every webhook that is subscribed to it, at least once, in no guaranteed order. The signatures cover the exact bytes of the body: verify them before parsing it. New fields may be added to a body.';

const WORKSPACE = EVENTS.CONTACT_CREATED.data.example.contact.workspaceId as WorkspaceId;

const ANSWERS = {
  '2XX': {
    description:
      'The event counts as delivered as soon as the status line arrives, which must be within 15 s. The body is ignored.',
  },
  '410': { description: 'The webhook is disabled at once.' },
  'default': {
    description:
      'It is posted again, for three days and with the same `webhook-id`. Redirects are not followed. A `Retry-After` of a 429 or 503 is respected, up to a day.',
  },
};

/** The `webhooks` of the document: the delivery of each event, and the receiver's answers. */
export function eventWebhooks(): OpenApiDocument['webhooks'] {
  return Object.fromEntries(EVENT_NAMES.map((name) => [name, { post: postOf(name) }]));
}

/** The schemas of the deliveries' bodies and of the events of the feed, and of the objects in them, by name. */
export function eventSchemas(): Record<string, JsonSchema> {
  const found: Record<string, JsonSchema> = feedEventSchema();
  for (const name of EVENT_NAMES) extractTitled(eventShape(name).schema, found);
  for (const schema of FEED_EVENT_SCHEMAS) extractTitled(schema, found);
  return found;
}

function postOf(name: EventName): Part {
  const shape = eventShape(name);
  const title = shape.schema['title'] as string;
  const { meaning } = EVENTS[name];
  const parameters = Object.keys(DELIVERY_PARAMETERS).map((one) => ({
    $ref: `#/components/parameters/${one}`,
  }));
  const value = { ...shape.example, data: exampleEventData(name, WORKSPACE) };
  const examples = { event: { summary: meaning, value } };
  return {
    operationId: `on${title.replace(/Event$/, '')}`,
    tags: [TAG],
    summary: meaning,
    description: DESCRIPTION,
    parameters,
    security: [],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: referenceNamed(title), examples } },
    },
    responses: ANSWERS,
  };
}

/** Replaces each schema with a title by a reference, so that it is described once and clients generate one type for it. */
function extractTitled(schema: JsonSchema, found: Record<string, JsonSchema>): JsonSchema {
  const { title, properties, ...rest } = schema;
  if (typeof title !== 'string') return withNamedWords(schema);
  const fields = Object.entries(properties as Record<string, JsonSchema>);
  found[title] = {
    ...rest,
    properties: Object.fromEntries(fields.map(([field, inner]) => [field, extractTitled(inner, found)])),
  };
  return referenceNamed(title);
}
