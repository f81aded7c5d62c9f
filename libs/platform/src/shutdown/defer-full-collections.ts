import { setFlagsFromString } from 'node:v8';

/**
 * When a full collection starts, in percent of the allocation limit: concurrently from the soft trigger on, at once from the hard one. By default,
 * V8 starts as soon as the remaining space is no larger than the young generation.
 */
const MARKING_FLAGS = ['--incremental-marking-soft-trigger=75', '--incremental-marking-hard-trigger=95'];

/**
 * Keeps V8 from running full collections because of unused buffers. Their memory counts as allocated until the young generation is collected, so with
 * the default trigger, a process with much I/O marked its whole heap several times a second, on all cores, and freed next to nothing
 * (docs/decisions/0051). The maximum heap size does not change.
 */
export function deferFullCollections(): void {
  for (const flag of MARKING_FLAGS) setFlagsFromString(flag);
}
