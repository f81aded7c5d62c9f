import type { DeliveryStatus } from './webhook.ts';

/** How what is due of a delivery stands; undefined: nothing is due of it. */
export type DueState = 'waiting' | 'ready' | 'taken' | undefined;

/** What sending a delivery again comes to. */
export type SendAgain =
  /** It is just being posted: nobody knows yet whether it has to be sent again. */
  | 'under_way'
  /** It is due as it is. */
  | 'due_already'
  /** Its retry is made now. */
  | 'hastened'
  /** It was finished, and begins anew. */
  | 'put_back';

/** What is to be done with a delivery that somebody wants to be sent again. */
export function decideSendAgain(status: DeliveryStatus, due: DueState): SendAgain {
  if (due === 'taken') return 'under_way';
  if (due === 'waiting') return 'hastened';
  // Without a row it can be PENDING when somebody has just put it back.
  return due === 'ready' || status === 'PENDING' ? 'due_already' : 'put_back';
}
