import { type EmailBacklog, type OutboxStore, type PausedLaneStore } from '@posthorn/database';
import { listPauses, type Pause } from './pause-sending.ts';

/** Whether emails flow. */
export interface SendingStatus {
  readonly pauses: readonly Pause[];
  /** How many lanes have due emails that nothing holds back; emails that flow leave few. */
  readonly lanesWithDueEmails: number;
  readonly emails: EmailBacklog;
}

/** What is held back and why, and whether there is due work besides. */
export async function sendingStatus(
  pausedLanes: Pick<PausedLaneStore, 'list'>,
  outbox: Pick<OutboxStore, 'countEmails' | 'lanesWithReadyRows'>,
): Promise<SendingStatus> {
  const [pauses, lanes, emails] = await Promise.all([
    listPauses(pausedLanes),
    outbox.lanesWithReadyRows(),
    outbox.countEmails(),
  ]);
  return { pauses, lanesWithDueEmails: lanes.filter(({ queue }) => queue === 'email').length, emails };
}
