import type { Recovery } from '@posthorn/domain';
import type { Recovery as ShownRecovery } from './recovery.answers.ts';

/** A recovery as the interface shows it: how it stands is a status, as of all that has one. */
export function recoveryView(recovery: Recovery): ShownRecovery {
  const { id, webhookId, state, since, until, total, done, createdAt, finishedAt } = recovery;
  return { id, webhookId, status: state, since, until, total, done, createdAt, finishedAt };
}
