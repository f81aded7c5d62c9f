import { Coalescer, type EmailId } from '@posthorn/kernel';
import type { WithheldReason } from '@posthorn/domain';
import type { ClaimedEmail, OutboxStore } from '@posthorn/database';

/**
 * For how long the answer that came with the claim is good. An email that waited longer, for its turn or for its template, is asked
 * about again: what keeps the recipient from being written to can have happened meanwhile.
 */
const ANSWER_GOOD_FOR_MS = 1_000;
const MAX_PER_LOOKUP = 500;

type AskedAbout = Pick<ClaimedEmail, 'id' | 'withheldFor' | 'askedAtMs'>;

/** Knows whether an email's recipient may be written to at the moment of sending. */
export class WithheldRecipients {
  private readonly questions: Coalescer<EmailId, WithheldReason | null>;

  constructor(outbox: Pick<OutboxStore, 'askWhyWithheld'>) {
    this.questions = new Coalescer({
      serve: (ids) => outbox.askWhyWithheld(ids),
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /**
   * Why nothing is to be sent to the recipient; null: it is. True a second before the answer, at the earliest.
   *
   * @throws what the database throws
   */
  whyWithheld({ id, withheldFor, askedAtMs }: AskedAbout): Promise<WithheldReason | null> {
    const isFresh = performance.now() - askedAtMs < ANSWER_GOOD_FOR_MS;
    return withheldFor !== null || isFresh ? Promise.resolve(withheldFor) : this.questions.add(id);
  }
}
