import {
  type DatabaseClock,
  newId,
  Refusal,
  timeOf,
  type WebhookId,
  type WorkspaceId,
} from '@posthorn/kernel';
import type { Actor, Recovery } from '@posthorn/domain';
import type { RecoveryStore } from '@posthorn/database';

/** The period of a recovery: failed deliveries of events in it are sent again. */
interface WantedTime {
  readonly since: Date;
  /** Absent or in the future: now. */
  readonly until?: Date | undefined;
}

/** Sends all deliveries again that failed in a period: started here, continued by the scheduler. */
export class RecoverDeliveries {
  constructor(
    private readonly recoveries: Pick<RecoveryStore, 'begin'>,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {}

  /**
   * Starts a recovery. If one of the same period is running, returns that one.
   *
   * @returns undefined when the workspace does not have the webhook
   * @throws Refusal 400 for a period that is empty or in the future; 409 while one of another period is running
   */
  async begin(
    workspaceId: WorkspaceId,
    actor: Actor,
    webhookId: WebhookId,
    wanted: WantedTime,
  ): Promise<Recovery | undefined> {
    const nowMs = this.clock.nowMs();
    const { since } = wanted;
    const until = endOf(wanted, nowMs);
    validatePeriod(since, until, nowMs);
    const id = newId('rcv', nowMs);
    const recovery = await this.recoveries.begin(workspaceId, actor, webhookId, { id, since, until });
    if (recovery !== undefined && recovery.id !== id && !isOf(recovery, wanted)) throw recoveryRuns(recovery);
    return recovery;
  }
}

function validatePeriod(since: Date, until: Date, nowMs: number): void {
  if (since.getTime() >= nowMs)
    throw new Refusal(400, '`since` is not in the past; give the time since which deliveries have failed');
  if (since >= until) throw noSuchPeriod();
}

/** The end of a period for a recovery that begins now. */
function endOf({ until }: WantedTime, nowMs: number): Date {
  return new Date(Math.min(until?.getTime() ?? nowMs, nowMs));
}

/** Whether this period would have been that of the recovery when it began, which is the time in its id. */
function isOf({ id, since, until }: Recovery, wanted: WantedTime): boolean {
  const end = endOf(wanted, timeOf(id));
  return since.getTime() === wanted.since.getTime() && until.getTime() === end.getTime();
}

/** The period is empty. */
export function noSuchPeriod(): Refusal {
  return new Refusal(400, '`until` is not later than `since`; give a later time, or leave it out for now');
}

/** A webhook has one recovery at a time. */
export function recoveryRuns({ id }: Pick<Recovery, 'id'>): Refusal {
  return new Refusal(
    409,
    `Deliveries of another time are being recovered for this webhook (${id}); wait until that is \`COMPLETED\``,
  );
}
