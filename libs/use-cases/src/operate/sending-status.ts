import type { DueSince, EmailBacklog, EraStore, OutboxStore, PausedLaneStore } from '@posthorn/database';
import { listPauses, type Pause } from './pause-sending.ts';

/** A database that was restored, and is held back since. */
export interface Restoration {
  readonly heldSince: Date;
  /** When the dump was made, to the minute. */
  readonly dumpedAt: Date;
  readonly queues: readonly DueSince[];
}

/** Whether emails flow. */
export interface SendingStatus {
  readonly pauses: readonly Pause[];
  /** How many lanes have due emails that nothing holds back; emails that flow leave few. */
  readonly lanesWithDueEmails: number;
  readonly emails: EmailBacklog;
  /** Null: the database was not restored, or was let go. */
  readonly restoration: Restoration | null;
}

/** What is held back and why, and whether there is due work besides. */
export async function sendingStatus(
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  outbox: Pick<OutboxStore, 'countEmails' | 'lanesWithReadyRows'>,
  eras: Pick<EraStore, 'read' | 'countDueSince'>,
): Promise<SendingStatus> {
  const [pauses, lanes, emails, restoration] = await Promise.all([
    listPauses(pausedLanes),
    outbox.lanesWithReadyRows(),
    outbox.countEmails(),
    findRestoration(eras),
  ]);
  const lanesWithDueEmails = lanes.filter(({ queue }) => queue === 'email').length;
  return { pauses, lanesWithDueEmails, emails, restoration };
}

/** What fell due since the dump was made that the database comes from. @returns null when it was not restored, or was let go */
export async function findRestoration(
  eras: Pick<EraStore, 'read' | 'countDueSince'>,
): Promise<Restoration | null> {
  const { heldSince, dumpedAt } = await eras.read();
  if (heldSince === null || dumpedAt === null) return null;
  return { heldSince, dumpedAt, queues: await eras.countDueSince(dumpedAt) };
}
