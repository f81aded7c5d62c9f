import { Controller, Get, Query } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { Caller, type Principal, RequiresScope } from '@posthorn/auth';
import { EventFeedStore, type FeedFault, type WantedEvents } from '@posthorn/database';
import { PAGE_LIMITS, parseFeedPosition } from '@posthorn/domain';
import { DisconnectSignal, type JsonText } from '@posthorn/platform';
import { Describes } from '../openapi/describes.ts';
import { LargeReads } from '../system/large-reads.ts';
import { validateQuery } from '../validation/validate-query.ts';
import { EventsAnswer } from './event.answers.ts';
import { eventsJson } from './events-json.ts';
import { EventsQuery } from './events-query.ts';

const EXPIRED = new Refusal(
  410,
  'Events after this place are no longer kept, so some may be missing; start without it, with the oldest that is kept',
);
const AHEAD = new Refusal(
  410,
  'The feed has not come as far as this place: the database was restored as it was before; begin without it, with the oldest event that is kept',
);
const UNKNOWN = new Refusal(
  400,
  '`after` is not the id of an event of this workspace; give one that the feed has shown',
);
const FAULTS: Readonly<Record<FeedFault, Refusal>> = { EXPIRED, AHEAD, UNKNOWN };

@Controller('v1/events')
export class EventsController {
  constructor(
    private readonly feed: EventFeedStore,
    private readonly reads: LargeReads,
  ) {}

  @Get()
  @RequiresScope('user')
  @Describes({
    name: 'listEvents',
    tag: 'Webhooks',
    summary: 'Read the events of the workspace in their order',
    description: [
      'For polling events instead of receiving them, or for catching up. The events of a workspace have one order, which never changes, and new events are only added at its end: if you read page by page with `startAt`, and later go on from `resumeAt`, you get every event once. An event appears once everything written before it has appeared, usually within milliseconds of the call that caused it.',
      'All events of contacts and members are shown. An event of an email is shown if a webhook, whatever its status, was subscribed to it when it happened, or if the operator has all events of emails recorded for the workspace: if you only poll, ask for that. Test events are not shown. With `event` a page can have fewer items than `limit`, even none, although `hasMore` is true.',
      'Events are kept for at least 65 days, unless the operator has agreed on another time with the workspace. If events after your position have been dropped, the answer is 410, so that you know that you missed some; so it is if the feed does not reach your position, because the operator restored a backup.',
    ].join('\n\n'),
    query: EventsQuery,
    answer: EventsAnswer,
    refuses: {
      'Unknown event': UNKNOWN,
      'Events no longer kept': EXPIRED,
      'Place not reached yet': AHEAD,
    },
  })
  async list(
    @Caller() { workspaceId }: Principal,
    @Query() query: unknown,
    @DisconnectSignal() gone: AbortSignal,
  ): Promise<JsonText> {
    const { limit = PAGE_LIMITS.default, event, ...place } = validateQuery(EventsQuery, query);
    const wanted = { limit: Number(limit), event, from: startOf(place) };
    const page = await this.reads.run(workspaceId, () => this.feed.read(workspaceId, wanted), gone);
    if ('fault' in page) throw FAULTS[page.fault];
    return eventsJson(page);
  }
}

/** Where to read from. @throws Refusal (400) for an invalid position */
function startOf({ startAt, after }: Pick<EventsQuery, 'startAt' | 'after'>): WantedEvents['from'] {
  if (startAt !== undefined && after !== undefined)
    throw new Refusal(400, '`startAt` and `after` are two places to begin at; give one of them');
  if (after !== undefined) return { after };
  const position = startAt === undefined ? undefined : parseFeedPosition(startAt);
  if (startAt !== undefined && position === undefined)
    throw new Refusal(
      400,
      '`startAt` is malformed; give back what an earlier page had in `startAt` or `resumeAt`, unchanged',
    );
  return position;
}
