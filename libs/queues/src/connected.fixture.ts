import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until it is connected to Redis, which may take longer on a busy machine than a command waits. */
export async function connected(one: { ping(): Promise<void> }): Promise<void> {
  const answers = (): Promise<boolean> =>
    one.ping().then(
      () => true,
      () => false,
    );
  while (!(await answers())) await sleep(5);
}
