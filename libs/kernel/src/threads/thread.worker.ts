import { parentPort, workerData } from 'node:worker_threads';
import type { ThreadAnswer, ThreadMessage } from './thread.ts';

/** What every thread runs: the function that its module exports by default, for one task after the other. */
const { default: work } = (await import(workerData as string)) as { default: (task: unknown) => unknown };

parentPort!.on('message', ({ task, begun }: ThreadMessage) => {
  Atomics.store(begun, 0, 1);
  try {
    answer({ result: work(task) });
  } catch (error) {
    answer({ error });
  }
});

function answer(message: ThreadAnswer): void {
  parentPort!.postMessage(message);
}
