import { FairConcurrencyLimit, Refusal, type WorkspaceId } from '@posthorn/kernel';

/** More may wait than one key may send at once. */
const MAX_WAITING = 250;

/**
 * Reads whose answers can take megabytes: a template, a delivery, and pages of contacts, of events and of the audit log. A workspace gets one at a time, because a hundred of its requests at
 * once took all connections to the database, and everybody else waited for seconds.
 */
export class LargeReads extends FairConcurrencyLimit<WorkspaceId> {
  constructor() {
    super({
      maxConcurrent: 4,
      maxWaiting: MAX_WAITING,
      refusal: () => new Refusal(503, 'Too many large answers are being read; try again in a moment'),
    });
  }
}
