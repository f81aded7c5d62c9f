import { newId, type SuppressionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Suppression, SuppressionReason } from '@posthorn/domain';
import type pg from 'pg';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { ADD_SUPPRESSIONS, REMOVE_SUPPRESSION } from '../../sql/suppressions.ts';
import { transactOn } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { suppressionOf, type SuppressionRow } from './suppression-row.ts';

/** An address to be suppressed. */
interface NewSuppression {
  /** Its domain in lower-case ASCII. */
  readonly email: string;
  readonly reason: SuppressionReason;
}

/** The entry of an address that was to be suppressed. */
interface AddedSuppression {
  readonly suppression: Suppression;
  /** False if the address was on the list already. */
  readonly isCreated: boolean;
}

/**
 * Changes of a workspace's suppression list on request: each in a transaction with its audit log entry. Suppressions by bounces and
 * complaints are written with these: see RECORD_OUTCOMES.
 */
export class SuppressionChanges {
  constructor(private readonly database: Database) {}

  /** Suppresses an address; an existing entry, in whatever case, is left unchanged. */
  async add(workspaceId: WorkspaceId, actor: Actor, wanted: NewSuppression): Promise<AddedSuppression> {
    return (await this.addAll(workspaceId, actor, [wanted]))[0]!;
  }

  /** Suppresses addresses in one transaction, each like {@link add}. @returns the entry of each, in their order */
  addAll(
    workspaceId: WorkspaceId,
    actor: Actor,
    wanted: readonly NewSuppression[],
  ): Promise<readonly AddedSuppression[]> {
    const inTransaction = async (client: pg.ClientBase): Promise<AddedSuppression[]> => {
      const now = this.database.clock.now();
      // Ids of one moment are in no order, and the list is in theirs.
      const ids = wanted.map(() => newId('sup', now.getTime())).sort();
      const items = wanted.map(({ email, reason }, n) => ({ n, id: uuidOf(ids[n]!), email, reason }));
      const values = [JSON.stringify(items), uuidOf(workspaceId), JSON.stringify(actor), now];
      const { rows } = await client.query<SuppressionRow>(ADD_SUPPRESSIONS, values);
      const added = rows.map(suppressionOf).map((suppression, n) => ({
        suppression,
        isCreated: suppression.id === ids[n],
      }));
      const created = added.filter(({ isCreated }) => isCreated).map(({ suppression }) => suppression);
      if (created.length > 0) await this.audit(client, 'suppression.created', actor, created);
      return added;
    };
    return this.database.changes.run(workspaceId, () => transactOn(this.database, inTransaction));
  }

  /** Removes an entry and returns it as it was; undefined when the workspace has none with this id. */
  remove(workspaceId: WorkspaceId, actor: Actor, id: SuppressionId): Promise<Suppression | undefined> {
    return transactOn(this.database, async (client) => {
      const values = [uuidOf(id), uuidOf(workspaceId)];
      const { rows } = await client.query<SuppressionRow>(REMOVE_SUPPRESSION, values);
      if (rows[0] === undefined) {
        await awaitStandby(client);
        return undefined;
      }
      const suppression = suppressionOf(rows[0]);
      await this.audit(client, 'suppression.deleted', actor, [suppression]);
      return suppression;
    });
  }

  /** Without the addresses, which must not outlive other data of their owners. */
  private audit(
    client: pg.ClientBase,
    action: 'suppression.created' | 'suppression.deleted',
    actor: Actor,
    changed: readonly Suppression[],
  ): Promise<void> {
    const changes = changed.map(({ workspaceId, id: subjectId, reason }) => ({
      workspaceId,
      action,
      actor,
      subjectId,
      detail: { reason },
    }));
    return recordAudit(client, this.database.clock.nowMs(), ...changes);
  }
}
