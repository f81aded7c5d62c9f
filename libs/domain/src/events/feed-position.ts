import { idFromUuid, parseId, uuidOf } from '@posthorn/kernel';

/** A place between two events of a workspace's feed. */
export interface FeedPosition {
  readonly era: number;
  /** The number of a transaction. */
  readonly xid: bigint;
  /** The native id of the last event before the place, among those of its transaction. */
  readonly id: string;
  /** How far in time the feed was read; what is older may be dropped without the reader missing it. */
  readonly atMs: number;
}

const FORM = /^(\d{1,9})-(\d{1,18})-(\d{1,14})-([0-9a-z]{26})$/;

/** The native id that is less than all others. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000';

/** A place as the interface shows it. */
export function feedPositionText({ era, xid, id, atMs }: FeedPosition): string {
  return [era, xid, Math.floor(atMs), idFromUuid('evt', id).slice('evt_'.length)].join('-');
}

/** The place that a text stands for; undefined when it is malformed. */
export function parseFeedPosition(text: string): FeedPosition | undefined {
  const [, era, xid, atMs, suffix] = FORM.exec(text) ?? [];
  const id = parseId('evt', `evt_${suffix}`);
  if (id === undefined) return undefined;
  return { era: Number(era), xid: BigInt(xid!), id: uuidOf(id), atMs: Number(atMs) };
}
