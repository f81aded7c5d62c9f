import { idFromUuid, parseId, uuidOf } from '@posthorn/kernel';

/** A position between two events of a workspace's feed. */
export interface FeedPosition {
  readonly era: number;
  /** The id of a transaction. */
  readonly xid: bigint;
  /** The native id of the last event before the position, within its transaction. */
  readonly id: string;
  /** The time up to which the feed was read: the reader misses no event when older ones are deleted. */
  readonly atMs: number;
}

const FORM = /^(\d{1,9})-(\d{1,18})-(\d{1,14})-([0-9a-z]{26})$/;

/** The form of a position in the API. */
export function feedPositionText({ era, xid, id, atMs }: FeedPosition): string {
  return [era, xid, Math.floor(atMs), idFromUuid('evt', id).slice('evt_'.length)].join('-');
}

/** Parses a position of the API; undefined when it is malformed. */
export function parseFeedPosition(text: string): FeedPosition | undefined {
  const [, era, xid, atMs, suffix] = FORM.exec(text) ?? [];
  const id = parseId('evt', `evt_${suffix}`);
  if (id === undefined) return undefined;
  return { era: Number(era), xid: BigInt(xid!), id: uuidOf(id), atMs: Number(atMs) };
}
