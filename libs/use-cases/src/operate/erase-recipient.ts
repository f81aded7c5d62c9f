import { hash } from 'node:crypto';
import type { WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import {
  addCounts,
  ERASURE_RULES,
  type ErasedRows,
  type ErasureRun,
  type ErasureStore,
  type PersonToErase,
  type TableCounts,
  totalOf,
  withoutNone,
} from '@posthorn/database';
import { addressIn } from '../identities/identity-value.ts';
import { repeatWhileSending } from './repeat-while-sending.ts';

/** What was done to a person's data, without identifying the person. */
interface ErasureReceipt {
  /** SHA-256 of the address in lower case, in hex: whoever knows the address can prove that the receipt is about it. */
  readonly recipient: string;
  readonly workspaceId: WorkspaceId | null;
  readonly erasedAt: Date;
  /** The number of deleted rows, by table. */
  readonly deleted: TableCounts;
  /** The number of rows in which the address was replaced by `[erased]`, by table. */
  readonly redacted: TableCounts;
  /**
   * The number of rows that still contain the address, by table: texts written by workspaces, and emails to others that have not been sent.
   */
  readonly left: TableCounts;
  /** How many workspaces keep a hash of the address, so that nothing is sent to the person. */
  readonly remembered: number;
  /** How many due emails and deliveries were cancelled. */
  readonly cancelled: number;
  /** How many are being sent at the moment, and so were not erased. */
  readonly inProgress: number;
}

interface ErasureOrder {
  readonly address: string;
  readonly workspaceId: WorkspaceId | null;
  /** Whether nothing is to be sent to the person again, even in workspaces where the address was not suppressed. */
  readonly suppress: boolean;
}

/** Adds up what the steps did. */
class Tally implements ErasureRun {
  readonly deleted: TableCounts = {};
  readonly redacted: TableCounts = {};
  readonly left: TableCounts = {};
  readonly workspaceIds = new Set<WorkspaceId>();
  readonly remembered = new Set<WorkspaceId>();
  cancelled = 0;
  inProgress = 0;
  private searched = 0;

  constructor(
    readonly actor: Actor,
    private readonly onProgress: (searched: number) => void,
  ) {}

  readonly onSearched = (rows: number): void => this.onProgress((this.searched += rows));

  add({ deleted, cancelled, inProgress, workspaceIds }: ErasedRows): void {
    addCounts(this.deleted, deleted);
    this.cancelled += cancelled;
    this.inProgress += inProgress;
    for (const id of workspaceIds) this.workspaceIds.add(id);
  }

  receipt({ address, workspaceId }: PersonToErase, erasedAt: Date): ErasureReceipt {
    return {
      recipient: hash('sha256', address.toLowerCase()),
      workspaceId,
      erasedAt,
      deleted: withoutNone(this.deleted),
      redacted: withoutNone(this.redacted),
      left: withoutNone(this.left),
      remembered: this.remembered.size,
      cancelled: this.cancelled,
      inProgress: this.inProgress,
    };
  }
}

/**
 * Erases a person: rows that are only about them are deleted, elsewhere their address is replaced by `[erased]`. What is due to them is
 * cancelled; what is being sent is waited for, half a minute at most. Reads everything once. Safe to interrupt, to run twice, and to run
 * while the apps do.
 *
 * @param onProgress called with the number of rows searched so far, after each group
 * @throws Refusal 400 when this is not an address
 */
export async function eraseRecipient(
  store: Pick<
    ErasureStore,
    'now' | 'forget' | 'removeEmails' | 'removeEvents' | 'redactAnswers' | 'redact' | 'record' | 'confirm'
  >,
  actor: Actor,
  { address, workspaceId, suppress }: ErasureOrder,
  onProgress: (searched: number) => void = () => undefined,
): Promise<ErasureReceipt> {
  const person = { address: addressIn(address), workspaceId };
  const tally = new Tally(actor, onProgress);
  if (workspaceId !== null) {
    await store.record([workspaceId], actor, { begun: true });
    tally.workspaceIds.add(workspaceId);
  }
  await forget(store, person, suppress, tally);
  await repeatWhileSending(() => removeAll(store, person, tally));
  // Emails that were being sent may have bounced meanwhile, which has added the address to the suppression list.
  await forget(store, person, suppress, tally);
  await redactAll(store, person, tally);
  const { deleted, redacted, cancelled } = tally;
  // Counts of the whole installation would tell a workspace what others had of the person.
  const result =
    workspaceId === null ? {} : { deleted: totalOf(deleted), redacted: totalOf(redacted), cancelled };
  await store.record(tally.workspaceIds, actor, { completed: true, ...result });
  await store.confirm();
  return tally.receipt(person, store.now());
}

async function forget(
  store: Pick<ErasureStore, 'forget'>,
  person: PersonToErase,
  suppress: boolean,
  tally: Tally,
): Promise<void> {
  const erased = await store.forget(person, suppress, tally);
  for (const id of erased.remembered) tally.remembered.add(id);
  tally.add(erased);
}

/** Removes what is about the person. @returns true; undefined: some of it is being sent */
async function removeAll(
  store: Pick<ErasureStore, 'removeEmails' | 'removeEvents'>,
  person: PersonToErase,
  tally: Tally,
): Promise<true | undefined> {
  tally.inProgress = 0;
  for (const step of ['removeEmails', 'removeEvents'] as const) {
    let group = await store[step](person, tally);
    for (; group !== undefined; group = await store[step](person, tally, group.end)) {
      tally.add(group);
      tally.onSearched(group.searched);
    }
  }
  return tally.inProgress === 0 || undefined;
}

async function redactAll(
  store: Pick<ErasureStore, 'redactAnswers' | 'redact'>,
  person: PersonToErase,
  { deleted, redacted, left, onSearched }: Tally,
): Promise<void> {
  const answers = await store.redactAnswers(person, onSearched);
  for (const table of Object.keys(ERASURE_RULES)) {
    const counts = await store.redact(table, person, onSearched);
    redacted[table] = counts.redacted;
    left[table] = counts.left;
  }
  addCounts(deleted, { idempotency_keys: answers.deleted });
  addCounts(redacted, { idempotency_keys: answers.redacted });
}
