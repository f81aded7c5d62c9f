import type {
  CountedDueSince,
  EmailBacklog,
  EraStore,
  OutboxStore,
  PausedLaneStore,
} from '@posthorn/database';
import { listPauses, type Pause } from './pause-sending.ts';

/** A restored database, paused since then. */
export interface Restoration {
  readonly heldSince: Date;
  /** When the dump was made, to the minute. */
  readonly dumpedAt: Date;
  readonly counted: CountedDueSince;
}

/** Whether emails are being sent. */
export interface SendingStatus {
  readonly pauses: readonly Pause[];
  /** How many lanes have due emails and are not paused; few when sending works. */
  readonly lanesWithDueEmails: number;
  readonly emails: EmailBacklog;
  /** Null: the database was not restored, or was resumed since. */
  readonly restoration: Restoration | null;
}

/** The pauses with their reasons, and whether there is other due work. Uses one connection at a time: with a large backlog each read may take seconds. */
export async function sendingStatus(
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  outbox: Pick<OutboxStore, 'countEmails' | 'lanesWithReadyRows'>,
  eras: Pick<EraStore, 'read' | 'countDueSince'>,
): Promise<SendingStatus> {
  const pauses = await listPauses(pausedLanes);
  const lanes = await outbox.lanesWithReadyRows();
  const emails = await outbox.countEmails();
  const restoration = await findRestoration(eras);
  const lanesWithDueEmails = lanes.filter(({ queue }) => queue === 'email').length;
  return { pauses, lanesWithDueEmails, emails, restoration };
}

/** What has become due since the database's dump was made. @returns null when it was not restored, or was resumed since */
export async function findRestoration(
  eras: Pick<EraStore, 'read' | 'countDueSince'>,
): Promise<Restoration | null> {
  const { heldSince, dumpedAt } = await eras.read();
  if (heldSince === null || dumpedAt === null) return null;
  return { heldSince, dumpedAt, counted: await eras.countDueSince(dumpedAt) };
}
