import { Controller, Get, Query } from '@nestjs/common';
import { parseId, Refusal } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { EventFeedStore, type FeedFault, type WantedEvents } from '@posthorn/database';
import { feedPositionText, PAGE_LIMITS, parseFeedPosition } from '@posthorn/domain';
import { asDescribed, type DescribedRefusal, Describes } from '../openapi/describes.ts';
import { judgeQuery } from '../validation/judge-query.ts';
import { EventsAnswer } from './event.answers.ts';
import { EventsQuery } from './events-query.ts';

const EXPIRED: DescribedRefusal = {
  status: 410,
  when: 'Events not kept any more',
  message:
    'Events behind this place are not kept any more, so some may be missing; begin without it, with the oldest that is kept',
};
const AHEAD: DescribedRefusal = {
  status: 410,
  when: 'Place not reached yet',
  message:
    'The feed has not come as far as this place: the database was restored as it was before; begin without it, with the oldest event that is kept',
};
const UNKNOWN: DescribedRefusal = {
  status: 400,
  when: 'Unknown event',
  message: '`after` is the id of no event of this workspace; give one that the feed has shown',
};
const FAULTS: Readonly<Record<FeedFault, DescribedRefusal>> = { EXPIRED, AHEAD, UNKNOWN };

@Controller('v1/events')
export class EventsController {
  constructor(private readonly feed: EventFeedStore) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listEvents',
    tag: 'Webhooks',
    summary: 'Read the events of the workspace in their order',
    description: [
      'For whoever would rather ask than be told, or must catch up. The events of a workspace have one order, which never changes, and new ones come at its end alone: whoever reads page after page with `startAt`, and goes on from `resumeAt` later, gets every event once. An event can be seen when all that was written before it is, mostly within milliseconds of the call that caused it.',
      'Events of contacts and members are always kept, those of emails while a webhook is subscribed to them. Nothing is shown of test events. With `event` a page can have fewer items than `limit`, even none, although `hasMore` is true.',
      'Events are kept for at least 65 days. A place behind which some were dropped is refused with 410: what was missed can then be told.',
    ].join('\n\n'),
    query: EventsQuery,
    answer: EventsAnswer,
    refuses: [UNKNOWN, EXPIRED, AHEAD],
  })
  async list(@Caller() { workspaceId }: Principal, @Query() query: unknown): Promise<EventsAnswer> {
    const { limit = PAGE_LIMITS.default, event, ...place } = judgeQuery(EventsQuery, query);
    const wanted = { limit: Number(limit), event, from: placeIn(place) };
    const page = await this.feed.read(workspaceId, wanted);
    if ('fault' in page) throw asDescribed(FAULTS[page.fault]);
    const { items, hasMore, position } = page;
    const resumeAt = feedPositionText(position);
    return { events: { items, hasMore, startAt: hasMore ? resumeAt : null, resumeAt } };
  }
}

/** @throws Refusal (400) for a place that is none */
function placeIn({ startAt, after }: Pick<EventsQuery, 'startAt' | 'after'>): WantedEvents['from'] {
  if (startAt !== undefined && after !== undefined)
    throw new Refusal(400, '`startAt` and `after` are two places to begin at; give one of them');
  if (after !== undefined) {
    const id = parseId('evt', after);
    if (id === undefined)
      throw new Refusal(400, '`after` is no id of an event; give `evt_` and 26 characters');
    return { after: id };
  }
  const position = startAt === undefined ? undefined : parseFeedPosition(startAt);
  if (startAt !== undefined && position === undefined)
    throw new Refusal(
      400,
      '`startAt` is malformed; give back what an earlier page had in `startAt` or `resumeAt`, unchanged',
    );
  return position;
}
