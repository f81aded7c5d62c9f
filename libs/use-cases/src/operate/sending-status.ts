import { type OutboxStore, type PausedLaneStore } from '@posthorn/database';
import { listPauses, type Pause } from './pause-sending.ts';

/** Whether emails flow. */
export interface SendingStatus {
  readonly pauses: readonly Pause[];
  /** How many lanes have due emails that nothing holds back; emails that flow leave few. */
  readonly lanesWithDueEmails: number;
}

/** What is held back and why, and whether there is due work besides. */
export async function sendingStatus(
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  outbox: Pick<OutboxStore, 'lanesWithReadyRows'>,
): Promise<SendingStatus> {
  const [pauses, lanes] = await Promise.all([listPauses(pausedLanes), outbox.lanesWithReadyRows()]);
  return { pauses, lanesWithDueEmails: lanes.filter(({ queue }) => queue === 'email').length };
}
