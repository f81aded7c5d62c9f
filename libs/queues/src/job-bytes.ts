import type { Queue } from 'bullmq';
import type { Redis } from './connections.ts';

/** The memory that each of these jobs takes in Redis, in bytes, without reading it; 0 for a job that is gone. */
export async function jobBytes(queue: Queue, ids: readonly string[]): Promise<number[]> {
  const client = (await queue.getBackend().client) as unknown as Redis;
  // SAMPLES 0 measures all fields; any other number only some of them.
  const bytesOf = (id: string): Promise<number | null> =>
    client.memory('USAGE', queue.toKey(id), 'SAMPLES', 0);
  return (await Promise.all(ids.map(bytesOf))).map((bytes) => bytes ?? 0);
}
