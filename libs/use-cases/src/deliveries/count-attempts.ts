import { groupSize, webhookAttempts, webhookDuration } from '@posthorn/platform';
import type { OutcomeWithReport } from './outcome-of-post.ts';

/** Updates the metrics with outcomes that were recorded together. */
export function countAttempts(outcomes: readonly OutcomeWithReport[]): void {
  groupSize.observe({ what: 'record' }, outcomes.length);
  for (const { attempt } of outcomes) {
    if (attempt === null) continue;
    webhookAttempts.inc({ result: attempt.errorClass ?? 'succeeded' });
    webhookDuration.observe(attempt.durationMs / 1_000);
  }
}
