import { parseTimestamp } from '@posthorn/domain';
import { RELEASE, Refusal, sleep } from '@posthorn/kernel';
import { requireValid } from '../require-valid.ts';

const LOOK_AGAIN_MS = 1_000;

/** The time before which due emails are given up. @throws Refusal (400) for an invalid or future time */
export function momentIn(text: string, now: Date): Date {
  const { atMs } = requireValid('failBefore', parseTimestamp(text));
  if (atMs > now.getTime())
    throw new Refusal(
      400,
      `\`failBefore\` is in the future; give one that has passed, such as that at which a lost installation stopped; it is ${now.toISOString()} now`,
    );
  return new Date(atMs);
}

/** The detail for the timeline of emails that an operator gives up while they are paused. */
export function heldBackDetail(moment: Date): object {
  const error = `an operator gave up what was due before ${moment.toISOString()} while emails were paused`;
  return { reason: 'held_back', error, release: RELEASE };
}

/**
 * Gives up due emails until none is left.
 *
 * @param areLeft whether there are any, also such as are being sent or locked by somebody
 * @param failRest fails those that are neither; gets how many were failed so far, and returns how many are by then
 */
export async function giveUpDue(
  areLeft: () => Promise<boolean>,
  failRest: (failed: number) => Promise<number>,
): Promise<number> {
  let failed = await failRest(0);
  // Emails that were being sent when the dump was made still have their leases, for a minute at most; those that are being sent here end. What somebody else has
  // locked, such as a scheduler that makes it ready, is there again when that ends.
  while (await areLeft()) {
    await sleep(LOOK_AGAIN_MS);
    failed = await failRest(failed);
  }
  return failed;
}
