import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';

/** How many bytes of Redis each of these jobs takes, without reading it; 0: it is gone. */
export async function jobBytes(queue: Queue, ids: readonly string[]): Promise<number[]> {
  const client = (await queue.getBackend().client) as unknown as Redis;
  // With any other number of samples Redis looks at some fields of a job only.
  const bytesOf = (id: string): Promise<number | null> =>
    client.memory('USAGE', queue.toKey(id), 'SAMPLES', 0);
  return (await Promise.all(ids.map(bytesOf))).map((bytes) => bytes ?? 0);
}
