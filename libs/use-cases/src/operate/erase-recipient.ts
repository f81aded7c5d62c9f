import { hash } from 'node:crypto';
import { type ErasureId, newId, sleep, SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import type { Actor, Erasure } from '@posthorn/domain';
import {
  addCounts,
  type ErasureStore,
  type TableCounts,
  withoutNone,
  type WorkspaceStore,
} from '@posthorn/database';
import { ServeErasures } from '../erasures/serve-erasures.ts';
import { addressIn } from '../identities/identity-value.ts';

/** How often is looked how far it is. */
const LOOKED_EVERY_MS = 1_000;
const BETWEEN_LOOKS_MS = 200;

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
  /** How many due emails, events and deliveries were cancelled. */
  readonly cancelled: number;
  /** How many are being sent at the moment, and so were not erased. */
  readonly inProgress: number;
}

interface ErasureOrder {
  readonly address: string;
  /** Null: all. */
  readonly workspaceId: WorkspaceId | null;
  /** Whether nothing is to be sent to the person again, even in workspaces where the address was not suppressed. */
  readonly suppress: boolean;
}

interface Stores {
  readonly workspaces: Pick<WorkspaceStore, 'list'>;
  readonly erasures: Pick<ErasureStore, 'now' | 'begin' | 'eraseGroup' | 'findAll' | 'confirm'>;
}

/**
 * Erases a person in a workspace, or in all of them and in what belongs to the installation. Begins an erasure in each, and does its part of the scheduler's work
 * until they are completed, so it needs no scheduler. If it is interrupted, a scheduler goes on; if it is run again, it goes on with them, too.
 *
 * @param onProgress called with the number of rows searched so far
 * @throws Refusal 400 when this is not an address
 */
export async function eraseRecipient(
  { workspaces, erasures }: Stores,
  actor: Actor,
  { address: given, workspaceId, suppress }: ErasureOrder,
  onProgress: (searched: number) => void = () => undefined,
): Promise<ErasureReceipt> {
  const address = addressIn(given);
  const isEverywhere = workspaceId === null;
  const wanted = { address, isSuppressing: suppress, isEverywhere };
  const begun: ErasureId[] = [];
  for (const id of isEverywhere ? await everyWorkspace(workspaces) : [workspaceId]) {
    const erasure = await erasures.begin(id, actor, {
      id: newId('ers', erasures.now().getTime()),
      ...wanted,
    });
    if (erasure !== undefined) begun.push(erasure.id);
  }
  const erased = await untilCompleted(erasures, begun, onProgress);
  await erasures.confirm();
  return {
    recipient: hash('sha256', address.toLowerCase()),
    workspaceId,
    erasedAt: erasures.now(),
    ...sumOf(erased),
  };
}

async function everyWorkspace(workspaces: Pick<WorkspaceStore, 'list'>): Promise<WorkspaceId[]> {
  return [SYSTEM_WORKSPACE_ID, ...(await workspaces.list()).map(({ id }) => id)];
}

/** Goes on with all erasures, as a scheduler does, until these are completed. */
async function untilCompleted(
  erasures: Stores['erasures'],
  ids: readonly ErasureId[],
  onProgress: (searched: number) => void,
): Promise<readonly Erasure[]> {
  const serving = new ServeErasures(erasures);
  for (;;) {
    await serving.runWithin(LOOKED_EVERY_MS);
    const found = await erasures.findAll(ids);
    onProgress(found.reduce((sum, { searched }) => sum + searched, 0));
    if (found.every(({ state }) => state === 'COMPLETED')) return found;
    await sleep(BETWEEN_LOOKS_MS);
  }
}

type Sum = Omit<ErasureReceipt, 'recipient' | 'workspaceId' | 'erasedAt'>;

function sumOf(erasures: readonly Erasure[]): Sum {
  const of = (counts: (erasure: Erasure) => TableCounts): TableCounts => {
    const sum: TableCounts = {};
    for (const erasure of erasures) addCounts(sum, counts(erasure));
    return withoutNone(sum);
  };
  const total = (count: (erasure: Erasure) => number): number =>
    erasures.reduce((sum, erasure) => sum + count(erasure), 0);
  return {
    deleted: of(({ deleted }) => deleted),
    redacted: of(({ redacted }) => redacted),
    left: of(({ remaining }) => remaining),
    remembered: total(({ isRemembered }) => Number(isRemembered)),
    cancelled: total(({ cancelled }) => cancelled),
    inProgress: total(({ inProgress }) => inProgress),
  };
}
