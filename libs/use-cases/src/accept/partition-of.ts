import type { WorkspaceId } from '@posthorn/kernel';

/** The partition of a `Coalescer` for a workspace's requests: always the same, so that they wait for each other and for few other workspaces. */
export function partitionOf(workspaceId: WorkspaceId): number {
  let hash = 0;
  for (let index = 0; index < workspaceId.length; index += 1)
    hash = (hash * 31 + workspaceId.charCodeAt(index)) | 0;
  return hash >>> 0;
}
