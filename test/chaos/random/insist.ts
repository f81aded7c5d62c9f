import { setTimeout as sleep } from 'node:timers/promises';

const BETWEEN_TRIES_MS = 300;

/** Repeats something until it succeeds. */
export async function insist<Result>(act: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await act();
    } catch {
      await sleep(BETWEEN_TRIES_MS);
    }
  }
}
