import type { FeedPage } from '@posthorn/database';
import { feedPositionText } from '@posthorn/domain';
import { JsonText } from '@posthorn/platform';

/**
 * The answer that shows a page of events, see `EventsAnswer`. An item is the recorded payload, with the id of the event before its members: the payloads of a
 * page are megabytes, which take many times as much memory once they are parsed.
 */
export function eventsJson({ items, hasMore, position }: FeedPage): JsonText {
  const resumeAt = feedPositionText(position);
  const shown = items.map(({ id, payload }) => `{"id":"${id}",${payload.slice(1)}`);
  const place = JSON.stringify({ hasMore, startAt: hasMore ? resumeAt : null, resumeAt });
  return new JsonText(`{"events":{"items":[${shown.join(',')}],${place.slice(1)}}`);
}
