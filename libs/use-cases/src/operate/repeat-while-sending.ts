import { sleep } from '@posthorn/kernel';

/** A transmission takes no longer, unless its relay hangs. */
const WAITED_FOR_MS = 30_000;
const ASKED_EVERY_MS = 1_000;

/**
 * Repeats a pass over what is to be removed for as long as some of it is being sent, but for half a minute after the first pass at most, which itself may
 * take minutes.
 *
 * @param pass resolves with undefined if something is being sent
 * @returns what the last pass gave
 */
export async function repeatWhileSending<Result>(
  pass: () => Promise<Result | undefined>,
): Promise<Result | undefined> {
  let result = await pass();
  const deadline = performance.now() + WAITED_FOR_MS;
  while (result === undefined && performance.now() < deadline) {
    await sleep(ASKED_EVERY_MS);
    result = await pass();
  }
  return result;
}
