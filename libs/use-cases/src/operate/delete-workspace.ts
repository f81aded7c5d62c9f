import { Refusal, SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import type { Actor } from '@posthorn/domain';
import {
  addCounts,
  type TableCounts,
  totalOf,
  withoutNone,
  type Workspace,
  type WorkspaceDeletionStore,
} from '@posthorn/database';
import { repeatWhileSending } from './repeat-while-sending.ts';

/** What was deleted with a workspace. */
interface DeletionReceipt {
  readonly workspaceId: WorkspaceId;
  readonly name: string;
  /** Null: not yet, because something is being sent; it can be deleted in a minute. */
  readonly deletedAt: Date | null;
  /** The number of deleted rows, by table. */
  readonly deleted: TableCounts;
  /** How many due emails, events and deliveries were cancelled. */
  readonly cancelled: number;
  /** How many emails and events are being processed at the moment, and so were not deleted. */
  readonly inProgress: number;
}

/** What was deleted so far. */
interface Tally {
  readonly deleted: TableCounts;
  cancelled: number;
  inProgress: number;
}

type Store = Pick<
  WorkspaceDeletionStore,
  'now' | 'close' | 'removeEmails' | 'removeEvents' | 'removeRows' | 'removeTemplates' | 'finish'
>;

interface DeletionOrder {
  /** The workspace's name, so that an id given by mistake deletes nothing. */
  readonly name: string;
  /** Called with the number of rows deleted so far, after each group. */
  readonly onProgress?: (rows: number) => void;
}

/**
 * Deletes a workspace with everything in it. Its keys stop working at once, and nothing more is sent for it; what is being sent is waited for, half a minute at most.
 * Safe to interrupt, to run twice, and to run while the apps do; once begun, it can only be completed.
 *
 * @throws Refusal (400) when the name is another one, (409) for the workspace of the system itself
 */
export async function deleteWorkspace(
  store: Store,
  workspace: Pick<Workspace, 'id' | 'name'>,
  actor: Actor,
  { name, onProgress = () => undefined }: DeletionOrder,
): Promise<DeletionReceipt> {
  const { id } = workspace;
  if (id === SYSTEM_WORKSPACE_ID)
    throw new Refusal(409, 'This is the workspace of the system itself, which sends its mails; it stays');
  if (name !== workspace.name)
    throw new Refusal(400, `${id} is called ${JSON.stringify(workspace.name)}; give that name to delete it`);
  const detail = { name };
  const tally: Tally = { deleted: await store.close(id, actor, detail), cancelled: 0, inProgress: 0 };
  const rest = await repeatWhileSending(async () => {
    await removeAll(store, id, tally, () => onProgress(totalOf(tally.deleted)));
    return tally.inProgress === 0 ? store.finish(id, actor, detail) : undefined;
  });
  addCounts(tally.deleted, rest ?? {});
  const deletedAt = rest === undefined ? null : store.now();
  return { workspaceId: id, name, deletedAt, ...tally, deleted: withoutNone(tally.deleted) };
}

/** Removes all rows of which there can be many, except those in progress. */
async function removeAll(store: Store, id: WorkspaceId, tally: Tally, tell: () => void): Promise<void> {
  tally.inProgress = 0;
  for (const step of ['removeEmails', 'removeEvents', 'removeRows', 'removeTemplates'] as const) {
    for (let group = await store[step](id); group !== undefined; group = await store[step](id, group.end)) {
      addCounts(tally.deleted, group.deleted);
      tally.cancelled += group.cancelled;
      tally.inProgress += group.inProgress;
      tell();
    }
  }
}
