import { type DatabaseClock, type EmailId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, parseSendAt } from '@posthorn/domain';
import type { EmailChanges, EmailRecord, EmailStore } from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import { IDEMPOTENCY_KEPT_MS } from '../accept/prepare-email.ts';
import { MOVED_TOO_OFTEN, notScheduled } from './not-scheduled.ts';

interface RescheduleEmailOptions {
  readonly emails: Pick<EmailStore, 'find'>;
  readonly changes: Pick<EmailChanges, 'reschedule'>;
  readonly rings: Pick<LaneRings, 'ring'>;
  readonly clock: DatabaseClock;
}

/** Moves scheduled emails to another time, earlier or later. */
export class RescheduleEmail {
  constructor(private readonly options: RescheduleEmailOptions) {}

  /**
   * Moves the email. A time up to five minutes in the past means now.
   *
   * @param operator who does it, if it is not an API key of the workspace: recorded in the audit log
   * @returns the email afterwards; undefined when the workspace has none with this id
   * @throws Refusal 400 for an impossible time; 409 when it was claimed for sending, cancelled, or moved too often
   */
  async reschedule(
    workspaceId: WorkspaceId,
    id: EmailId,
    sendAt: string,
    operator?: Actor,
  ): Promise<EmailRecord | undefined> {
    const parsed = parseSendAt(sendAt, this.options.clock.nowMs(), 'the time of now to send it now');
    const isMoved = 'at' in parsed && (await this.move(workspaceId, id, parsed.at ?? null, operator));
    const email = await this.options.emails.find(workspaceId, id);
    if (email === undefined || isMoved) return email;
    // That the email cannot be changed any more takes precedence over an invalid time.
    if (email.status !== 'SCHEDULED') throw notScheduled(email, 'moved');
    if ('at' in parsed) throw MOVED_TOO_OFTEN;
    throw new Refusal(400, `\`sendAt\` ${parsed.fault}`);
  }

  private async move(
    workspaceId: WorkspaceId,
    id: EmailId,
    at: Date | null,
    actor: Actor | undefined,
  ): Promise<boolean> {
    const { changes, rings } = this.options;
    const wanted = { at, keysKeptMs: IDEMPOTENCY_KEPT_MS, actor };
    const moved = await changes.reschedule(workspaceId, id, wanted);
    // After the commit; the clock rings for emails that become due later, and makes up for a lost ring.
    if (moved?.isDue) rings.ring(moved.laneId);
    return moved !== undefined;
  }
}
