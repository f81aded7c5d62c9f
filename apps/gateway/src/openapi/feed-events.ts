import {
  anyObjectShape,
  EVENT_NAMES,
  EVENTS,
  type EventName,
  idShape,
  objectShape,
  type Shape,
  tagShape,
  timeShape,
  wordShape,
} from '@posthorn/domain';
import { type JsonSchema, referenceNamed } from './json-schema.ts';

const NAME = 'FeedEvent';
const KNOWN = 'KnownFeedEvent';

const COMMON = {
  id: idShape('evt', 'The id of the event, which is the `webhook-id` of its deliveries.'),
  createdAt: timeShape('When it happened.'),
};

/** The kinds of events of the feed: events with the same kind of `data` are one. */
const KINDS = [...Map.groupBy(EVENT_NAMES, titleOf)].map(([title, names]) => shapeOf(title, names));

/** An event of the feed. */
export const feedEvent: JsonSchema = { ...referenceNamed(NAME), examples: [KINDS[0]!.example] };

/** Tests take only known words, so they take no such event. */
const NEW_NAME: Shape<string> = {
  example: 'EMAIL_FORWARDED',
  schema: {
    ...wordShape<string>('EventName', EVENT_NAMES, 'The name of the event.', 'EMAIL_FORWARDED').schema,
    not: { enum: EVENT_NAMES },
    examples: ['EMAIL_FORWARDED'],
  },
};

/** An event whose name did not exist when a client was generated. */
const OTHER = objectShape('OtherFeedEvent', 'In the feed: an event that was added to the interface later.', {
  ...COMMON,
  event: NEW_NAME,
  data: anyObjectShape('What happened.', {}),
});

/** The schemas of the kinds of events of the feed. */
export const FEED_EVENT_SCHEMAS: readonly JsonSchema[] = [...KINDS, OTHER].map(({ schema }) => schema);

/**
 * The schema of any event of the feed, by its name. By `event`, clients tell which kind of the known ones it is; one that is added later is of none, and must not make a
 * page unreadable. All have names, because generated clients can only pass on what they can name.
 */
export function feedEventSchema(): Record<string, JsonSchema> {
  const mapping = EVENT_NAMES.map((name) => [name, referenceNamed(titleOf(name))['$ref']]);
  return {
    [NAME]: {
      description: 'An event of the feed. More events may be added.',
      anyOf: [KNOWN, OTHER.schema['title'] as string].map(referenceNamed),
    },
    [KNOWN]: {
      description: 'An event of the feed that exists today; `event` says which.',
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
    ...COMMON,
    event: tagShape([first, ...others], 'The name of the event.'),
    data: EVENTS[first].data,
  });
}
