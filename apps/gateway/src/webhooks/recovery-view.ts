import type { Recovery } from '@posthorn/domain';
import type { Recovery as ShownRecovery } from './recovery.answers.ts';

/** The API representation of a recovery; its state is called `status`, as everywhere in the API. */
export function recoveryView(recovery: Recovery): ShownRecovery {
  const { id, webhookId, state, since, until, total, done, createdAt, finishedAt } = recovery;
  return { id, webhookId, status: state, since, until, total, done, createdAt, finishedAt };
}
