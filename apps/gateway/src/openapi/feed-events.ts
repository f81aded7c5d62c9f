import {
  EVENT_NAMES,
  EVENTS,
  type EventName,
  idShape,
  objectShape,
  type Shape,
  timeShape,
  wordShape,
} from '@posthorn/domain';
import { type JsonSchema, referenceNamed } from './json-schema.ts';

const NAME = 'FeedEvent';

/** The kinds of events of the feed: events with the same kind of `data` are one. */
const KINDS = [...Map.groupBy(EVENT_NAMES, titleOf)].map(([title, names]) => shapeOf(title, names));

/** An event of the feed. */
export const feedEvent: JsonSchema = { ...referenceNamed(NAME), examples: [KINDS[0]!.example] };

/** The schemas of the kinds of events of the feed. */
export const FEED_EVENT_SCHEMAS: readonly JsonSchema[] = KINDS.map(({ schema }) => schema);

/**
 * The schema of any event of the feed, by its name. By `event`, clients tell which kind it is. It has a name, as have its kinds, because
 * generated clients can only pass on what they can name.
 */
export function feedEventSchema(): Record<string, JsonSchema> {
  const mapping = EVENT_NAMES.map((name) => [name, referenceNamed(titleOf(name))['$ref']]);
  return {
    [NAME]: {
      description: 'An event of the feed.',
      oneOf: KINDS.map(({ schema }) => referenceNamed(schema['title'] as string)),
      discriminator: { propertyName: 'event', mapping: Object.fromEntries(mapping) as JsonSchema },
    },
  };
}

function titleOf(name: EventName): string {
  return (EVENTS[name].data.schema['title'] as string).replace(/EventData$/, NAME);
}

function shapeOf(title: string, names: readonly EventName[]): Shape<object> {
  const [first, ...others] = names as [EventName, ...EventName[]];
  return objectShape(title, `In the feed: ${names.map((name) => `\`${name}\``).join(', ')}.`, {
    id: idShape('evt', 'The id of the event, which is the `webhook-id` of its deliveries.'),
    event: wordShape([first, ...others], 'The name of the event.'),
    createdAt: timeShape('When it happened.'),
    data: EVENTS[first].data,
  });
}
