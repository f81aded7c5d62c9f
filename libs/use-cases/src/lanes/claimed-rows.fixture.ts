import { idFromUuid, newUuid } from '@posthorn/kernel';
import type { LaneId } from '@posthorn/domain';
import type { ClaimedRow } from '@posthorn/database';

/** Rows of a lane, claimed for the first time. */
export function claimedRows(laneId: LaneId, kind: 'trs' | 'dlv', count: number): ClaimedRow[] {
  return Array.from({ length: count }, () => ({
    id: idFromUuid(kind, newUuid(Date.now())),
    laneId,
    claims: 1,
    attempts: 0,
    bytes: 10,
    laneHasMore: false,
    askedAtMs: 0,
  }));
}
