import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  type FailureClass,
  type LaneId,
  RETRIES_DUE_AFTER_SECONDS,
  type RetriedQueue,
} from '@posthorn/domain';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import type { Database } from '../../connection/connection.ts';
import { HASTEN_EMAIL, hastenRetries } from '../../sql/retries.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { type AuditedChange, recordAudit } from '../workspaces/audit-log-store.ts';

/** Which retries are meant. */
export interface RetryFilter {
  readonly queue: RetriedQueue;
  /** Absent: all lanes. */
  readonly lanes?: readonly LaneId[];
  /** The domain of the recipient, in lower-case ASCII; only of emails, as is `failureClass`. */
  readonly domain?: string | undefined;
  /** Why the last attempt failed. */
  readonly failureClass?: FailureClass | undefined;
}

/** What has become of retries. */
export interface HastenedCounts {
  /** How many are due now that waited for a later time. */
  readonly hastened: number;
  /** How many of these are paused, and so wait nevertheless. */
  readonly paused: number;
  /** How many others were due already. */
  readonly alreadyDue: number;
  /** How many others are being sent or changed by somebody at this moment. */
  readonly inProgress: number;
}

interface HastenedGroup extends HastenedCounts {
  readonly looked: number;
  /** After which row the pass continues; undefined: it has ended. */
  readonly next: string | undefined;
}

type HastenedRow = HastenedCounts & { readonly looked: number; readonly last: string | null };

/** Emails and deliveries that wait for their next attempt. */
export class RetryStore {
  private readonly size = new AdaptiveGroupSize();

  constructor(private readonly database: Pick<Database, 'pool' | 'clock' | 'onEventsDue'>) {}

  /**
   * Makes the retries due now that are among the next `maxRows` rows of the outbox, fewer if that takes too long.
   *
   * @param after the UUID after which they follow
   * @param change recorded in the same transaction, if there are any
   */
  hastenNext(
    { queue, lanes, domain, failureClass }: RetryFilter,
    after: string,
    maxRows: number,
    change?: AuditedChange,
  ): Promise<HastenedGroup> {
    const due = [lanes ?? null, RETRIES_DUE_AFTER_SECONDS[queue]];
    const filter = queue === 'email' ? [domain ?? null, failureClass ?? null] : [];
    return this.size.run(maxRows, async (max) => {
      const values = [...due, after, max, ...filter];
      const { last, ...counts } = await this.hasten(hastenRetries(queue), values, change);
      return { ...counts, next: counts.looked < max ? undefined : last! };
    });
  }

  /** Makes the next attempt of an email due now, and records it in the audit log of its workspace. */
  async hastenEmail(workspaceId: WorkspaceId, id: EmailId, actor: Actor): Promise<HastenedCounts> {
    const values = [null, RETRIES_DUE_AFTER_SECONDS.email, uuidOf(id)];
    return this.hasten(HASTEN_EMAIL, values, { workspaceId, action: 'email.hastened', actor, subjectId: id });
  }

  /** Records what came of a pass. */
  async record(change: AuditedChange): Promise<void> {
    await transactOn(this.database, (client) => recordAudit(client, this.database.clock.nowMs(), change));
  }

  private hasten(sql: string, values: unknown[], change: AuditedChange | undefined): Promise<HastenedRow> {
    return transactOn(this.database, async (client) => {
      const row = (await client.query<HastenedRow>(sql, values)).rows[0]!;
      if (change !== undefined && row.hastened > 0)
        await recordAudit(client, this.database.clock.nowMs(), change);
      return row;
    });
  }
}
