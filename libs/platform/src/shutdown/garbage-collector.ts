import { setFlagsFromString } from 'node:v8';

/**
 * When the whole heap is collected, in percent of what may be allocated until it has to be: marking begins beside the work, and at once. V8 itself
 * begins as soon as no more is left than the young generation takes.
 */
const MARKING_FLAGS = ['--incremental-marking-soft-trigger=75', '--incremental-marking-hard-trigger=95'];

/**
 * Keeps V8 from collecting the whole heap because of buffers that are done with. What they hold counts as allocated until the young generation is
 * collected, so with V8's own trigger a process that reads and writes much marked its whole heap several times a second, on all cores, and found
 * next to nothing (docs/decisions/0051). How large the heap may become stays as it is.
 */
export function deferFullCollections(): void {
  for (const flag of MARKING_FLAGS) setFlagsFromString(flag);
}
