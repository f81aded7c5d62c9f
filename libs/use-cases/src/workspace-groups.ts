import type { CoalescerOptions, WorkspaceId } from '@posthorn/kernel';

const MAX_ITEMS_PER_GROUP = 500;
const MAX_BYTES_PER_GROUP = 8 * 1024 * 1024;
const GROUPS_AT_ONCE = 4;

/**
 * How a `Coalescer` groups calls of workspaces: those of one workspace are always in the same partition, so that they wait for each other and for few other
 * workspaces, and these are served in turn.
 */
export function workspaceGroups<Call>(workspaceOf: (call: Call) => WorkspaceId) {
  return {
    maxItems: MAX_ITEMS_PER_GROUP,
    maxBytes: MAX_BYTES_PER_GROUP,
    partitions: GROUPS_AT_ONCE,
    partitionOf: (call) => partitionOf(workspaceOf(call)),
    ownerOf: workspaceOf,
  } satisfies Partial<CoalescerOptions<Call, unknown>>;
}

/** The partition of a workspace's calls. */
export function partitionOf(workspaceId: WorkspaceId): number {
  let hash = 0;
  for (let index = 0; index < workspaceId.length; index += 1)
    hash = (hash * 31 + workspaceId.charCodeAt(index)) | 0;
  return (hash >>> 0) % GROUPS_AT_ONCE;
}
