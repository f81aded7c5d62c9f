import { type DatabaseClock, newId, Refusal, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Recovery } from '@posthorn/domain';
import type { RecoveryStore } from '@posthorn/database';

/** Which of a webhook's deliveries are to be sent again: those of events in this time that failed. */
interface WantedTime {
  readonly since: Date;
  /** Absent, or to come: now. */
  readonly until?: Date | undefined;
}

/** Sends all again that failed in a time: what a caller begins here, the scheduler goes on with. */
export class RecoverDeliveries {
  constructor(
    private readonly recoveries: Pick<RecoveryStore, 'begin'>,
    private readonly clock: Pick<DatabaseClock, 'nowMs'>,
  ) {}

  /**
   * Begins a recovery. Asked again for the same time while it runs it gives the one that runs.
   *
   * @returns undefined when the workspace does not have the webhook
   * @throws Refusal 400 for a time that is none or to come; 409 while one of another time runs
   */
  async begin(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    actor: Actor,
    wanted: WantedTime,
  ): Promise<Recovery | undefined> {
    const nowMs = this.clock.nowMs();
    const { since } = wanted;
    const until = new Date(Math.min(wanted.until?.getTime() ?? nowMs, nowMs));
    judgeTime(since, until, nowMs);
    const id = newId('rcv', nowMs);
    const recovery = await this.recoveries.begin(workspaceId, webhookId, actor, { id, since, until });
    if (recovery !== undefined && recovery.id !== id && !isOf(recovery, wanted)) throw recoveryRuns(recovery);
    return recovery;
  }
}

function judgeTime(since: Date, until: Date, nowMs: number): void {
  if (since.getTime() >= nowMs)
    throw new Refusal(400, '`since` is not in the past; give the time since which deliveries have failed');
  if (since >= until) throw noSuchPeriod();
}

/** Without an end it was begun with the one of that moment. */
function isOf(recovery: Recovery, { since, until }: WantedTime): boolean {
  if (recovery.since.getTime() !== since.getTime()) return false;
  return until === undefined || recovery.until.getTime() === until.getTime();
}

/** Nothing can be between the two times. */
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
