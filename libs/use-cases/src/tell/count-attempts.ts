import { groupSize, webhookAttempts, webhookDuration } from '@posthorn/platform';
import type { ToldOutcome } from './outcome-of-post.ts';

/** Counts what was recorded together. */
export function countAttempts(outcomes: readonly ToldOutcome[]): void {
  groupSize.observe({ what: 'record' }, outcomes.length);
  for (const { attempt } of outcomes) {
    if (attempt === null) continue;
    webhookAttempts.inc({ result: attempt.errorClass ?? 'succeeded' });
    webhookDuration.observe(attempt.durationMs / 1_000);
  }
}
