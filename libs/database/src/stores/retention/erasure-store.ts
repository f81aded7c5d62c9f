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
  PASS_TURN,
  PUT_ERASURE_OFF,
  READ_ERASURE,
  READ_ERASURES,
} from '../../sql/erasures.ts';
import { AdaptiveGroupSize } from '../../transactions/adaptive-group-size.ts';
import { awaitStandby } from '../../transactions/await-standby.ts';
import { changeWorkspace, transactOn } from '../../transactions/transaction.ts';
import { addressHash } from '../address-hash.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import type { RowOf } from '../row-of.ts';
import {
  eraseNextGroup,
  type ForgottenRow,
  type LockedErasure,
  nextEmailsTo,
  type PersonOfErasure,
} from './erase-group.ts';
import { afterGroup, type ErasureProgress, sumOf } from './erasure-progress.ts';
import { ROWS_SEARCHED_TOGETHER } from './redaction.ts';
import { totalOf } from './table-counts.ts';

/** A person to erase. */
interface WantedErasure {
  readonly id: ErasureId;
  /** Its domain in lower-case ASCII. */
  readonly address: string;
  readonly isSuppressing: boolean;
  /** An operator erases the person in all workspaces: an audit log then has it only if anything was found. */
  readonly isEverywhere?: boolean;
}

type ErasureRow = RowOf<Erasure, 'id'>;
type BegunRow = Pick<ErasureRow, 'id' | 'deleted'> & Pick<PersonOfErasure, 'erasesUntil'>;
type NextErasure = ErasureProgress &
  Pick<PersonOfErasure, 'address' | 'erasesUntil'> & {
    readonly id: string;
    readonly workspaceId: string;
    readonly turn: number;
  };

/** Rows of any table that can be searched together, and scheduled emails that can be cancelled in one turn. */
const SMALL_GROUP = 100;

/**
 * Erasures of persons, of one workspace each. Their state is in their rows, so any process can continue any of them; each group is one transaction, which also
 * records how far it is, and what was done.
 */
export class ErasureStore {
  private readonly sizes = new Map<string, AdaptiveGroupSize>();

  constructor(private readonly database: Database) {}

  /** By the clock of the database. */
  now(): Date {
    return this.database.clock.now();
  }

  /**
   * Begins an erasure: deletes contact, suppression and invitations at once, keeps a hash of the address where nothing may be sent to it, and leaves the rest to
   * {@link eraseGroup}. While one of the same person is unfinished, it is that one.
   *
   * @returns undefined when the workspace has `maxOpen` unfinished ones of other persons, or was deleted
   */
  async begin(
    workspaceId: WorkspaceId,
    actor: Actor,
    { id, address, isSuppressing, isEverywhere = false }: WantedErasure,
    maxOpen = Number.POSITIVE_INFINITY,
  ): Promise<Erasure | undefined> {
    const now = this.database.clock.now();
    const workspace = uuidOf(workspaceId);
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const ask = transaction.$queryRawUnsafe.bind(transaction);
      const [open] = await ask<{ count: number }[]>(COUNT_OPEN_ERASURES, workspace, address);
      if (open!.count >= maxOpen) return undefined;
      const operator = isEverywhere ? JSON.stringify(actor) : null;
      const values = [uuidOf(id), workspace, address, isSuppressing, now, operator];
      const [begun] = await ask<BegunRow[]>(BEGIN_ERASURE, ...values);
      if (begun === undefined) return undefined;
      const forgetting = [address, workspace, isSuppressing, begun.erasesUntil, addressHash(address)];
      const [forgotten] = await ask<ForgottenRow[]>(FORGET_PERSON, ...forgetting);
      const deleted = JSON.stringify(sumOf(begun.deleted, forgotten!.deleted));
      const [noted] = await ask<ErasureRow[]>(NOTE_FORGOTTEN, begun.id, deleted, forgotten!.isRemembered);
      const erasure = erasureOf(noted!);
      if (isEverywhere) return erasure;
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

  /** Those of these erasures that are there: a deleted workspace has none. */
  async findAll(ids: readonly ErasureId[]): Promise<Erasure[]> {
    const { rows } = await this.database.pool.query<ErasureRow>(READ_ERASURES, [ids.map(uuidOf)]);
    return rows.map(erasureOf);
  }

  /** Waits until a failover brings back nothing that is erased, by an earlier erasure either. */
  confirm(): Promise<void> {
    return awaitStandby(this.database.pool);
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
      const size = this.sizeOf(erasure.step);
      return await size.run(ROWS_SEARCHED_TOGETHER, (rows) => this.eraseNext(erasure, rows));
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
    const { id, turn } = erasure;
    if (isSearchedForEmails(erasure)) {
      const done = await this.cancelScheduled(erasure, max);
      if (done !== 'all') return done === 'some' ? 0 : undefined;
    }
    return transactOn(this.database, async (client) => {
      const locked = (await client.query<LockedErasure>(LOCK_ERASURE, [id, turn])).rows[0];
      if (locked === undefined) return undefined;
      const { progress, waitSeconds } = await eraseSome(client, personOf(erasure), locked, max);
      await client.query(NOTE_ERASED_GROUP, [id, JSON.stringify(progress), waitSeconds]);
      if (progress.state === 'COMPLETED') {
        await client.query(PASS_TURN, [erasure.workspaceId]);
        await this.recordCompleted(client, erasure, progress);
      }
      return progress.searched - locked.searched;
    });
  }

  /**
   * Cancels the scheduled emails to the person in the next group, so that they do not count towards the monthly limit any more. Each in a transaction of its own,
   * because accepting waits for the usage row that this locks; and not too many at once, because other erasures and the scheduler's other jobs wait.
   *
   * @returns `overtaken`: another process works on the erasure
   */
  private async cancelScheduled(erasure: NextErasure, max: number): Promise<'all' | 'some' | 'overtaken'> {
    const group = await nextEmailsTo(this.database.pool, personOf(erasure), erasure.position, max);
    const scheduled = group?.emails.filter(({ status }) => status === 'SCHEDULED') ?? [];
    let cancelled = 0;
    for (const { id } of scheduled) {
      if (cancelled === SMALL_GROUP) return 'some';
      const isCancelled = await this.cancel(erasure, id);
      if (isCancelled === undefined) return 'overtaken';
      if (isCancelled) cancelled += 1;
    }
    return 'all';
  }

  /** @returns whether it did, which it does not if the email is being sent; undefined: another process works on the erasure */
  private cancel(erasure: NextErasure, emailId: string): Promise<boolean | undefined> {
    return transactOn(this.database, async (client) => {
      const locked = await client.query(LOCK_ERASURE, [erasure.id, erasure.turn]);
      if (locked.rowCount === 0) return undefined;
      const cancelled = await client.query(CANCEL_EMAIL, [emailId, erasure.workspaceId]);
      if (cancelled.rowCount === 0) return false;
      await client.query(NOTE_CANCELLED, [erasure.id]);
      return true;
    });
  }

  /** Of an erasure in all workspaces, only those in which something was found have an entry. */
  private async recordCompleted(
    client: pg.ClientBase,
    erasure: NextErasure,
    { operator, ...progress }: LockedErasure,
  ): Promise<void> {
    const [deleted, redacted] = [totalOf(progress.deleted), totalOf(progress.redacted)];
    if (operator !== null && deleted + redacted === 0) return;
    await recordAudit(client, this.database.clock.nowMs(), {
      workspaceId: idFromUuid('wrk', erasure.workspaceId),
      action: 'recipient.erased',
      actor: operator ?? POSTHORN,
      subjectId: idFromUuid('ers', erasure.id),
      detail: { completed: true, deleted, redacted, cancelled: progress.cancelled },
    });
  }
}

/**
 * Erases the person in the next group, and in what follows until that are a hundred rows or more: most workspaces have few in most tables. A table with more
 * groups gets no more than two of them: they end at their size, too.
 *
 * @returns the progress, and for how many seconds it has to wait
 */
async function eraseSome(
  client: pg.ClientBase,
  person: PersonOfErasure,
  locked: LockedErasure,
  max: number,
): Promise<{ readonly progress: LockedErasure; readonly waitSeconds: number }> {
  let [progress, rows] = [locked, max];
  for (;;) {
    const { progress: next, waitSeconds } = afterGroup(
      progress,
      await eraseNextGroup(client, person, progress, rows),
    );
    const isFurtherGroup = progress.position.length > 0 && next.position.length > 0;
    progress = { ...locked, ...next };
    // Scheduled emails are cancelled before the transaction of their group.
    const isOver = progress.state === 'COMPLETED' || isSearchedForEmails(progress);
    if (isOver || isFurtherGroup || progress.searched - locked.searched >= SMALL_GROUP)
      return { progress, waitSeconds };
    rows = Math.min(rows, SMALL_GROUP);
  }
}

function isSearchedForEmails({ state, step }: Pick<ErasureProgress, 'state' | 'step'>): boolean {
  return state === 'REMOVING' && step === 'emails';
}

function personOf({ address, workspaceId, erasesUntil }: NextErasure): PersonOfErasure {
  return { address, workspaceId: idFromUuid('wrk', workspaceId), erasesUntil };
}

function erasureOf({ id, ...rest }: ErasureRow): Erasure {
  return { ...rest, id: idFromUuid('ers', id) };
}
