import type { DeliveryStatus } from './webhook.ts';

/** The state of a delivery's outbox row; undefined: it has none. */
export type DueState = 'waiting' | 'ready' | 'taken' | undefined;

/** The result of a request to send a delivery again. */
export type SendAgain =
  /** It is being posted right now: whether it must be sent again is not known yet. */
  | 'under_way'
  /** It is due anyway. */
  | 'due_already'
  /** Its next retry is made due now, and starts the retry schedule anew. */
  | 'hastened'
  /** It was finished, and starts again with the first attempt. */
  | 'put_back';

/** Decides a request to send a delivery again. */
export function decideSendAgain(status: DeliveryStatus, due: DueState): SendAgain {
  if (due === 'taken') return 'under_way';
  if (due === 'waiting') return 'hastened';
  // Without a row it can be PENDING when it has just been put back.
  return due === 'ready' || status === 'PENDING' ? 'due_already' : 'put_back';
}
