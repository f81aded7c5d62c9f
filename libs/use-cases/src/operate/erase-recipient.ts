import { hash } from 'node:crypto';
import { sleep, type WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import {
  ERASURE_RULES,
  type ErasedRows,
  type ErasureStore,
  type PersonToErase,
  type TableCounts,
} from '@posthorn/database';
import { addressIn } from '../identities/identity-value.ts';

/** A transmission ends within this time, unless its relay hangs. */
const WAITED_FOR_MS = 30_000;
const ASKED_EVERY_MS = 1_000;

/** What was done to a person's data; it does not say who the person is. */
interface ErasureReceipt {
  /** SHA-256 of the address in lower case, in hex: who knows the address can show that the receipt is about it. */
  readonly recipient: string;
  readonly workspaceId: WorkspaceId | null;
  readonly erasedAt: Date;
  /** How many rows went, by table. */
  readonly deleted: TableCounts;
  /** In how many rows `[erased]` stands where the address stood, by table. */
  readonly redacted: TableCounts;
  /** In how many rows the address still stands, by table: what workspaces wrote themselves, and emails to others that have not left. */
  readonly left: TableCounts;
  /** How many workspaces keep a hash, because nothing is to be sent to the person. */
  readonly remembered: number;
  /** How many emails and deliveries were still due, and were taken back. */
  readonly takenBack: number;
  /** How many are just being sent, and so are still there. */
  readonly inHand: number;
}

interface ErasureOrder {
  readonly address: string;
  readonly workspaceId: WorkspaceId | null;
  /** Whether nothing is to be sent to the person again, also where they were on no list. */
  readonly suppress: boolean;
}

/** What steps add to; it tells each workspace's log when it is first met: a run that is broken off is in it, too. */
class Tally {
  readonly deleted: TableCounts = {};
  readonly workspaceIds = new Set<WorkspaceId>();
  readonly remembered = new Set<WorkspaceId>();
  takenBack = 0;
  inHand = 0;

  constructor(private readonly tellBegun: (workspaceId: WorkspaceId) => Promise<void>) {}

  async add({ deleted, takenBack, inHand, workspaceIds }: ErasedRows): Promise<void> {
    for (const [table, count] of Object.entries(deleted)) addTo(this.deleted, table, count);
    this.takenBack += takenBack;
    this.inHand += inHand;
    for (const id of workspaceIds) await this.meet(id);
  }

  async meet(id: WorkspaceId): Promise<void> {
    if (this.workspaceIds.has(id)) return;
    this.workspaceIds.add(id);
    await this.tellBegun(id);
  }
}

/**
 * Removes a person: what is of them alone goes, elsewhere `[erased]` stands where they were named. What waits for them is taken back; what
 * is just being sent is waited for, half a minute at most. Everything is read once. Safe to break off, to run twice, and while the apps run.
 *
 * @throws Refusal 400 when this is no address
 */
export async function eraseRecipient(
  store: Pick<
    ErasureStore,
    'now' | 'forget' | 'removeEmails' | 'removeEvents' | 'redactAnswers' | 'redact' | 'record'
  >,
  actor: Actor,
  { address, workspaceId, suppress }: ErasureOrder,
): Promise<ErasureReceipt> {
  const person = { address: addressIn(address), workspaceId };
  const tally = new Tally((id) => store.record(id, actor, { begun: true }));
  if (workspaceId !== null) await tally.meet(workspaceId);
  const forget = async (): Promise<void> => {
    const { rows, remembered } = await store.forget(person, suppress);
    for (const id of remembered) tally.remembered.add(id);
    await tally.add(rows);
  };
  await forget();
  await removeUntilNoneIsInHand(store, person, tally);
  // What was in hand may have come back meanwhile, which has put the address on the list.
  await forget();
  const answers = await store.redactAnswers(person);
  if (answers.deleted > 0) addTo(tally.deleted, 'idempotency_keys', answers.deleted);
  const { redacted, left } = await redactAll(store, person);
  if (answers.redacted > 0) addTo(redacted, 'idempotency_keys', answers.redacted);
  const { deleted, takenBack, inHand } = tally;
  for (const id of tally.workspaceIds)
    await store.record(id, actor, { deleted: sumOf(deleted), redacted: sumOf(redacted), takenBack });
  const recipient = hash('sha256', person.address.toLowerCase());
  return {
    recipient,
    workspaceId,
    erasedAt: store.now(),
    deleted: withoutNone(deleted),
    redacted,
    left,
    remembered: tally.remembered.size,
    takenBack,
    inHand,
  };
}

async function removeUntilNoneIsInHand(
  store: Pick<ErasureStore, 'removeEmails' | 'removeEvents'>,
  person: PersonToErase,
  tally: Tally,
): Promise<void> {
  const begunAt = performance.now();
  for (;;) {
    tally.inHand = 0;
    for (const step of ['removeEmails', 'removeEvents'] as const) {
      let window = await store[step](person);
      for (; window !== undefined; window = await store[step](person, window.end))
        await tally.add(window.rows);
    }
    if (tally.inHand === 0 || performance.now() - begunAt > WAITED_FOR_MS) return;
    await sleep(ASKED_EVERY_MS);
  }
}

async function redactAll(
  store: Pick<ErasureStore, 'redact'>,
  person: PersonToErase,
): Promise<{ redacted: TableCounts; left: TableCounts }> {
  const [redacted, left]: [TableCounts, TableCounts] = [{}, {}];
  for (const table of Object.keys(ERASURE_RULES)) {
    const counts = await store.redact(table, person);
    if (counts.redacted > 0) addTo(redacted, table, counts.redacted);
    if (counts.left > 0) addTo(left, table, counts.left);
  }
  return { redacted, left };
}

function addTo(counts: TableCounts, table: string, count: number): void {
  counts[table] = (counts[table] ?? 0) + count;
}

function withoutNone(counts: TableCounts): TableCounts {
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0));
}

function sumOf(counts: TableCounts): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
