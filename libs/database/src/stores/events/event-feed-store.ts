import { type EventId, FIRST_ID, idFromUuid, timeOf, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { EventName, FeedPosition } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { LOCATE_EVENT, READ_EVENT_FEED } from '../../sql/event-feed.ts';

/** How many events a page scans for those with one name. */
const MAX_SEEN = 5_000;
/** What are_events_kept allows for. */
const DAY_MS = 86_400_000;
const BEGINNING: FeedPosition = { era: 0, xid: 0n, id: FIRST_ID, atMs: 0 };

/** An event as shown in the feed. */
interface FeedEvent {
  readonly id: EventId;
  /** The JSON that is posted about it. */
  readonly payload: string;
}

/** Which events to read. */
export interface WantedEvents {
  readonly limit: number;
  /** Only those with this name; absent: all. */
  readonly event?: EventName | undefined;
  /** Only those after this position or event; absent: from the oldest one behind which none was removed. */
  readonly from?: FeedPosition | { readonly after: EventId } | undefined;
}

/** A page of the feed. */
export interface FeedPage {
  readonly items: readonly FeedEvent[];
  readonly hasMore: boolean;
  /** After everything that was read. */
  readonly position: FeedPosition;
}

/** Why a feed cannot be read from a position. */
export type FeedFault =
  /** Events after it have already been removed. */
  | 'EXPIRED'
  /** The workspace has no such event. */
  | 'UNKNOWN'
  /** The database has not come as far, or never had its era: it was restored to an earlier time. */
  | 'AHEAD';

/** The events of a workspace in a stable order: new ones are only ever appended. */
export class EventFeedStore {
  /** @param maxSeen how many events a page scans */
  constructor(
    private readonly database: Pick<Database, 'pool' | 'clock'>,
    private readonly maxSeen = MAX_SEEN,
  ) {}

  /**
   * Reads a page. When few events have the wanted name, it can have fewer items than its limit, or none, and still report that there are
   * more.
   */
  async read(
    workspaceId: WorkspaceId,
    { limit, event, from }: WantedEvents,
  ): Promise<FeedPage | { readonly fault: FeedFault }> {
    const start = from !== undefined && 'after' in from ? await this.locate(workspaceId, from.after) : from;
    if (start !== undefined && 'fault' in start) return start;
    const { era, xid, id, atMs } = start ?? BEGINNING;
    const nowMs = this.database.clock.nowMs();
    const { rows } = await this.database.pool.query<FeedRow>(READ_EVENT_FEED, [
      uuidOf(workspaceId),
      era,
      String(xid),
      id,
      start && this.limited(atMs),
      event,
      this.maxSeen,
      limit + 1,
    ]);
    const [{ kept, keptSinceMs, hasEra, thisEra, next }] = rows as [FeedRow, ...FeedRow[]];
    if (!kept) return { fault: 'EXPIRED' };
    if (!hasEra || (era === thisEra && xid > BigInt(next))) return { fault: 'AHEAD' };
    return this.pageOf(rows, limit, start ?? { ...BEGINNING, atMs: keptSinceMs ?? 0 }, nowMs);
  }

  private pageOf(rows: readonly FeedRow[], limit: number, start: FeedPosition, nowMs: number): FeedPage {
    const seen = rows.filter((row): row is SeenRow => row.id !== null);
    const found = seen.filter(({ matches }) => matches);
    const items = found.slice(0, limit).map(feedEvent);
    const keptSinceMs = Math.min(start.atMs, nowMs + DAY_MS);
    if (found.length > limit)
      return { items, hasMore: true, position: positionOf(found[limit - 1]!, keptSinceMs) };
    const last = seen.at(-1);
    const position = last === undefined ? start : positionOf(last, keptSinceMs);
    if (last?.n === this.maxSeen) return { items, hasMore: true, position };
    // Not the number of a future transaction: after a crash, the server assigns those again of which nothing was stored.
    return { items, hasMore: false, position: { ...position, atMs: Math.max(nowMs, keptSinceMs) } };
  }

  /** Limited, because a caller may name any time. Where the last month is missing, positions are valid a day after its end, which may be ahead. */
  private limited(atMs: number): Date {
    return new Date(Math.min(atMs, this.database.clock.nowMs() + DAY_MS));
  }

  private async locate(
    workspaceId: WorkspaceId,
    id: EventId,
  ): Promise<FeedPosition | { readonly fault: FeedFault }> {
    const atMs = timeOf(id);
    const { rows } = await this.database.pool.query<{ kept: boolean; era: number | null; xid: string }>(
      LOCATE_EVENT,
      [uuidOf(id), uuidOf(workspaceId), this.limited(atMs)],
    );
    const { kept, era, xid } = rows[0]!;
    if (era === null) return { fault: kept ? 'UNKNOWN' : 'EXPIRED' };
    return { era, xid: BigInt(xid), id: uuidOf(id), atMs };
  }
}

/** A row of READ_EVENT_FEED. */
interface FeedRow {
  readonly thisEra: number;
  readonly next: string;
  readonly hasEra: boolean;
  readonly kept: boolean;
  /** When read from the beginning: since when positions are valid, at most a day ahead; null: since ever. */
  readonly keptSinceMs: number | null;
  readonly id: string | null;
}

interface SeenRow extends FeedRow {
  readonly id: string;
  readonly n: number;
  readonly matches: boolean;
  readonly era: number;
  readonly xid: string;
  readonly payload: string;
}

/**
 * The position after an event. Its time is not before that of the position where the page began: a reader that began just behind a dropped month has missed
 * nothing, although its first events are within what are_events_kept allows for.
 */
function positionOf({ era, xid, id }: SeenRow, keptSinceMs: number): FeedPosition {
  return { era, xid: BigInt(xid), id, atMs: Math.max(timeOf(idFromUuid('evt', id)), keptSinceMs) };
}

function feedEvent({ id, payload }: SeenRow): FeedEvent {
  return { id: idFromUuid('evt', id), payload };
}
