import type { EmailOutcome } from '@posthorn/database';
import { emailOutcomes, groupSize, smtpReplies } from '@posthorn/platform';

/** Updates the metrics with outcomes that were recorded together. */
export function countOutcomes(outcomes: readonly EmailOutcome[]): void {
  groupSize.observe({ what: 'record' }, outcomes.length);
  for (const { kind, detail } of outcomes) {
    emailOutcomes.inc({ outcome: kind.toLowerCase() });
    const { class: replyClass } = detail as { class?: unknown };
    if (typeof replyClass === 'string') smtpReplies.inc({ class: replyClass });
  }
}
