import { type Database, WorkspaceStore } from '@posthorn/database';
import { POSTHORN } from '@posthorn/domain';
import type { WorkspaceId } from '@posthorn/kernel';
import { partitionOf } from './workspace-groups.ts';

/** Another workspace, whose calls are served in the same groups. */
export async function workspaceBeside(database: Database, id: WorkspaceId): Promise<WorkspaceId> {
  for (;;) {
    const { id: other } = await new WorkspaceStore(database).create(POSTHORN, 'Neighbour', null);
    if (partitionOf(other) === partitionOf(id)) return other;
  }
}
