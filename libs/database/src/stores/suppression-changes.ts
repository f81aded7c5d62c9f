import { newId, type SuppressionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Suppression, SuppressionReason } from '@posthorn/domain';
import { awaitStandby } from '../await-standby.ts';
import type { Database } from '../connection.ts';
import { ADD_SUPPRESSION, REMOVE_SUPPRESSION } from '../sql/suppressions.ts';
import { transact, type Transaction } from '../transaction.ts';
import { recordAudit } from './audit-log-store.ts';
import { suppressionOf, type SuppressionRow } from './suppression-row.ts';

/** An address to be suppressed. */
interface NewSuppression {
  /** Its domain in lower-case ASCII. */
  readonly email: string;
  readonly reason: SuppressionReason;
}

/**
 * Changes of a workspace's suppression list on request: each in a transaction with its audit log entry. Suppressions by bounces and
 * complaints are written with these: see RECORD_OUTCOMES.
 */
export class SuppressionChanges {
  constructor(private readonly database: Database) {}

  /** Suppresses an address; an existing entry, in whatever case, is left unchanged. */
  add(
    workspaceId: WorkspaceId,
    actor: Actor,
    { email, reason }: NewSuppression,
  ): Promise<{ readonly suppression: Suppression; readonly isCreated: boolean }> {
    return transact(this.database, async (transaction) => {
      const now = this.database.clock.now();
      const id = newId('sup', now.getTime());
      const [row] = await transaction.$queryRawUnsafe<SuppressionRow[]>(
        ADD_SUPPRESSION,
        uuidOf(id),
        uuidOf(workspaceId),
        email,
        reason,
        JSON.stringify(actor),
        now,
      );
      const suppression = suppressionOf(row!);
      const isCreated = suppression.id === id;
      if (isCreated) await this.audit(transaction, 'suppression.created', actor, suppression);
      return { suppression, isCreated };
    });
  }

  /** Removes an entry and returns it as it was; undefined when the workspace has none with this id. */
  remove(workspaceId: WorkspaceId, actor: Actor, id: SuppressionId): Promise<Suppression | undefined> {
    return transact(this.database, async (transaction) => {
      const values = [uuidOf(id), uuidOf(workspaceId)];
      const [row] = await transaction.$queryRawUnsafe<SuppressionRow[]>(REMOVE_SUPPRESSION, ...values);
      if (row === undefined) {
        await awaitStandby(transaction);
        return undefined;
      }
      const suppression = suppressionOf(row);
      await this.audit(transaction, 'suppression.deleted', actor, suppression);
      return suppression;
    });
  }

  /** Without the address, which must not outlive other data of its owner. */
  private audit(
    transaction: Transaction,
    action: 'suppression.created' | 'suppression.deleted',
    actor: Actor,
    { workspaceId, id: subjectId, reason }: Suppression,
  ): Promise<void> {
    const detail = { reason };
    return recordAudit(transaction, this.database.clock.nowMs(), {
      workspaceId,
      action,
      actor,
      subjectId,
      detail,
    });
  }
}
