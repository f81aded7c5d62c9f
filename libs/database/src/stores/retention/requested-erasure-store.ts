import { type ErasureId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, type Erasure, POSTHORN } from '@posthorn/domain';
import type pg from 'pg';
import type { Database } from '../../connection/connection.ts';
import { CANCEL_EMAIL } from '../../sql/email-changes.ts';
import { FORGET_PERSON } from '../../sql/erasure.ts';
import {
  BEGIN_ERASURE,
  COUNT_OPEN_ERASURES,
  FORGET_ERASURES,
  LOCK_ERASURE,
  NEXT_ERASURE,
  NOTE_CANCELLED,
  NOTE_ERASED_GROUP,
  NOTE_FORGOTTEN,
  PUT_ERASURE_OFF,
  READ_ERASURE,
} from '../../sql/erasures.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { changeWorkspace, transactOn } from '../../transactions/transaction.ts';
import { addressHash } from '../mail-refusal.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import type { RowOf } from '../row-of.ts';
import {
  eraseNextGroup,
  type ForgottenRow,
  type LockedErasure,
  nextEmailsTo,
  type PersonOfWorkspace,
} from './erase-group.ts';
import { afterGroup, type ErasureProgress, sumOf } from './erasure-progress.ts';
import { groupSizeOf } from './redaction.ts';
import { totalOf } from './table-counts.ts';

/** The person that a workspace wants erased. */
interface WantedErasure {
  readonly id: ErasureId;
  /** Its domain in lower-case ASCII. */
  readonly address: string;
  readonly isSuppressing: boolean;
}

type ErasureRow = RowOf<Erasure, 'id'>;
type NextErasure = LockedErasure & {
  readonly id: string;
  readonly workspaceId: string;
  readonly address: string;
  readonly turn: number;
};

/**
 * Erasures that workspaces have asked for. Their state is in their rows, so any process can continue any of them; each group is one transaction, which also
 * records how far it is, and what was done.
 */
export class RequestedErasureStore {
  private readonly sizes = new Map<string, AdaptiveGroupSize>();

  constructor(private readonly database: Database) {}

  /**
   * Begins an erasure: deletes contact, suppression and invitations at once, keeps a hash of the address where nothing may be sent to it, and leaves the rest to
   * {@link eraseGroup}. While one of the same person is unfinished, it is that one.
   *
   * @returns undefined when the workspace has `maxOpen` unfinished ones of other persons
   */
  async begin(
    workspaceId: WorkspaceId,
    actor: Actor,
    { id, address, isSuppressing }: WantedErasure,
    maxOpen: number,
  ): Promise<Erasure | undefined> {
    const now = this.database.clock.now();
    const workspace = uuidOf(workspaceId);
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const ask = transaction.$queryRawUnsafe.bind(transaction);
      const [open] = await ask<{ count: number }[]>(COUNT_OPEN_ERASURES, workspace, address);
      if (open!.count >= maxOpen) return undefined;
      const values = [uuidOf(id), workspace, address, isSuppressing, now];
      const [begun] = await ask<Pick<ErasureRow, 'id' | 'deleted'>[]>(BEGIN_ERASURE, ...values);
      const person = [address, workspace, isSuppressing, addressHash(address)];
      const [forgotten] = await ask<ForgottenRow[]>(FORGET_PERSON, ...person);
      const deleted = JSON.stringify(sumOf(begun!.deleted, forgotten!.deleted));
      const isRemembered = forgotten!.remembered.length > 0;
      const [noted] = await ask<ErasureRow[]>(NOTE_FORGOTTEN, begun!.id, deleted, isRemembered);
      const erasure = erasureOf(noted!);
      await recordAudit(transaction, now.getTime(), {
        workspaceId,
        action: 'recipient.erased',
        actor,
        subjectId: erasure.id,
        detail: { begun: true },
      });
      return erasure;
    });
  }

  /** The erasure; undefined: the workspace has none with this id. */
  async find(workspaceId: WorkspaceId, id: ErasureId): Promise<Erasure | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId)];
    const { rows } = await this.database.pool.query<ErasureRow>(READ_ERASURE, values);
    return rows[0] && erasureOf(rows[0]);
  }

  /**
   * Searches the next group of the erasure that has waited longest, with the rows that belong to it. One that fails is put off by some minutes, so that it does
   * not block others.
   *
   * @returns how many rows were searched; undefined: none can go on now, or another process works on it
   */
  async eraseGroup(): Promise<number | undefined> {
    const { rows } = await this.database.pool.query<NextErasure>(NEXT_ERASURE);
    const [erasure] = rows;
    if (erasure === undefined) return undefined;
    try {
      const max = groupSizeOf(erasure.step);
      return await this.sizeOf(erasure.step).run(max, (rows) => this.eraseNext(erasure, rows));
    } catch (error) {
      // The first error is the one to report: if this fails too, the erasure only comes again sooner.
      await this.database.pool.query(PUT_ERASURE_OFF, [erasure.id]).catch(() => undefined);
      throw error;
    }
  }

  /** Deletes erasures that were completed so many days ago. @returns how many */
  async forget(days: number): Promise<number> {
    return (await this.database.pool.query(FORGET_ERASURES, [days])).rowCount ?? 0;
  }

  private sizeOf(step: string): AdaptiveGroupSize {
    const size = this.sizes.get(step) ?? new AdaptiveGroupSize();
    this.sizes.set(step, size);
    return size;
  }

  private async eraseNext(erasure: NextErasure, max: number): Promise<number | undefined> {
    const { id, turn, state, step } = erasure;
    if (state === 'REMOVING' && step === 'emails') await this.cancelScheduled(erasure, max);
    return transactOn(this.database, async (client) => {
      const locked = (await client.query<LockedErasure>(LOCK_ERASURE, [id, turn])).rows[0];
      if (locked === undefined) return undefined;
      const group = await eraseNextGroup(client, personOf(erasure), locked, max);
      const { progress, waitSeconds } = afterGroup(locked, group);
      await client.query(NOTE_ERASED_GROUP, [id, JSON.stringify(progress), waitSeconds]);
      if (progress.state === 'COMPLETED') await this.recordCompleted(client, erasure, progress);
      return group.searched ?? 0;
    });
  }

  /**
   * Cancels the scheduled emails to the person in the next group, so that they do not count towards the monthly limit any more. Each in a transaction of its own,
   * because accepting waits for the usage row that this locks.
   */
  private async cancelScheduled(erasure: NextErasure, max: number): Promise<void> {
    const group = await nextEmailsTo(this.database.pool, personOf(erasure), erasure.position, max);
    const scheduled = group?.emails.filter(({ status }) => status === 'SCHEDULED') ?? [];
    for (const { id } of scheduled)
      await transactOn(this.database, async (client) => {
        const locked = await client.query(LOCK_ERASURE, [erasure.id, erasure.turn]);
        if (locked.rowCount === 0) return;
        const cancelled = await client.query(CANCEL_EMAIL, [id, erasure.workspaceId]);
        if (cancelled.rowCount === 1) await client.query(NOTE_CANCELLED, [erasure.id]);
      });
  }

  private recordCompleted(
    client: pg.ClientBase,
    erasure: NextErasure,
    { deleted, redacted, cancelled }: ErasureProgress,
  ): Promise<void> {
    return recordAudit(client, this.database.clock.nowMs(), {
      workspaceId: idFromUuid('wrk', erasure.workspaceId),
      action: 'recipient.erased',
      actor: POSTHORN,
      subjectId: idFromUuid('ers', erasure.id),
      detail: { completed: true, deleted: totalOf(deleted), redacted: totalOf(redacted), cancelled },
    });
  }
}

function personOf({ address, workspaceId }: NextErasure): PersonOfWorkspace {
  return { address, workspaceId: idFromUuid('wrk', workspaceId) };
}

function erasureOf({ id, ...rest }: ErasureRow): Erasure {
  return { ...rest, id: idFromUuid('ers', id) };
}
