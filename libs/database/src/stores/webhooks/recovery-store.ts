import { idFromUuid, type RecoveryId, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Recovery } from '@posthorn/domain';
import type pg from 'pg';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import {
  BEGIN_RECOVERY,
  COUNT_FAILED_DELIVERIES,
  FORGET_RECOVERIES,
  LIST_RECOVERIES,
  NOTE_RECOVERED_GROUP,
  READ_RECOVERY,
  RECOVER_DELIVERIES,
  TAKE_RECOVERY,
} from '../../sql/recoveries.ts';
import { changeWorkspace, transactOn } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import type { RowOf } from '../row-of.ts';

/** The deliveries of a webhook to recover: of events from `since` on, and before `until`. */
interface WantedRecovery {
  readonly id: RecoveryId;
  readonly since: Date;
  readonly until: Date;
}

/** Limits of one transaction. */
interface RecoveryBounds {
  /** How many deliveries are examined. */
  readonly looked: number;
  /** A webhook that has so many deliveries due waits until it has fewer. */
  readonly ready: number;
}

type RecoveryRow = RowOf<Recovery, 'id' | 'webhookId'>;
type TakenRecovery = Pick<RecoveryRow, 'id' | 'webhookId' | 'state' | 'until'> & { readonly seenTo: string };

interface Group {
  readonly looked: number;
  readonly last: string | null;
  readonly failed: number;
}

/** Recoveries of failed deliveries. Their state is in their rows, so any process can continue any of them. */
export class RecoveryStore {
  private readonly lookedTogether = new AdaptiveGroupSize();

  constructor(private readonly database: Database) {}

  /**
   * Begins a recovery; undefined: the workspace does not have the webhook. If one is running, returns that one (which may have been completed
   * just now).
   */
  async begin(
    workspaceId: WorkspaceId,
    actor: Actor,
    webhookId: WebhookId,
    { id, since, until }: WantedRecovery,
  ): Promise<Recovery | undefined> {
    const now = this.database.clock.now();
    const ids = { id: uuidOf(webhookId), workspaceId: uuidOf(workspaceId) };
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      if ((await transaction.webhook.count({ where: ids })) === 0) return undefined;
      const values = [uuidOf(id), ids.workspaceId, ids.id, since, until, now];
      const [begun] = await transaction.$queryRawUnsafe<RecoveryRow[]>(BEGIN_RECOVERY, ...values);
      if (begun === undefined) {
        const newest = [ids.id, ids.workspaceId, 1];
        const [running] = await transaction.$queryRawUnsafe<RecoveryRow[]>(LIST_RECOVERIES, ...newest);
        await awaitStandby(transaction);
        return recoveryOf(running!);
      }
      await recordAudit(transaction, now.getTime(), {
        workspaceId,
        action: 'webhook.recovered',
        actor,
        subjectId: webhookId,
        detail: { recoveryId: id, since: since.toISOString(), until: until.toISOString() },
      });
      return recoveryOf(begun);
    });
  }

  /** The recovery; undefined: this webhook of this workspace has none with this id. */
  async find(workspaceId: WorkspaceId, webhookId: WebhookId, id: RecoveryId): Promise<Recovery | undefined> {
    const values = [uuidOf(id), uuidOf(webhookId), uuidOf(workspaceId)];
    const { rows } = await this.database.pool.query<RecoveryRow>(READ_RECOVERY, values);
    return rows[0] && recoveryOf(rows[0]);
  }

  /** The newest recoveries of a webhook, at most `max`; none if the workspace does not have the webhook. */
  async list(workspaceId: WorkspaceId, webhookId: WebhookId, max: number): Promise<Recovery[]> {
    const values = [uuidOf(webhookId), uuidOf(workspaceId), max];
    return (await this.database.pool.query<RecoveryRow>(LIST_RECOVERIES, values)).rows.map(recoveryOf);
  }

  /** Processes the next group of the recovery that has waited longest. @returns how many deliveries were made due; undefined: no recovery can continue now */
  async recoverGroup({ looked, ready }: RecoveryBounds): Promise<number | undefined> {
    return this.lookedTogether.run(looked, (max) =>
      transactOn(this.database, async (client) => {
        const { rows } = await client.query<TakenRecovery>(TAKE_RECOVERY, [ready]);
        return rows[0] && recoverNext(client, rows[0], max);
      }),
    );
  }

  /** Deletes recoveries that were completed so many days ago. @returns how many */
  async forget(days: number): Promise<number> {
    return (await this.database.pool.query(FORGET_RECOVERIES, [days])).rowCount ?? 0;
  }
}

async function recoverNext(
  client: pg.PoolClient,
  { id, webhookId, state, seenTo, until }: TakenRecovery,
  maxRows: number,
): Promise<number> {
  const sql = state === 'COUNTING' ? COUNT_FAILED_DELIVERIES : RECOVER_DELIVERIES;
  const { rows } = await client.query<Group>(sql, [webhookId, seenTo, until, maxRows]);
  const { looked, last, failed } = rows[0]!;
  await client.query(NOTE_RECOVERED_GROUP, [id, last, failed, looked < maxRows]);
  return state === 'COUNTING' ? 0 : failed;
}

function recoveryOf({ id, webhookId, ...rest }: RecoveryRow): Recovery {
  return { ...rest, id: idFromUuid('rcv', id), webhookId: idFromUuid('wh', webhookId) };
}
