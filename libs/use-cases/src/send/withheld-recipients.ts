import { Coalescer, type EmailId, suspensionProofNowMs } from '@posthorn/kernel';
import type { WithheldReason } from '@posthorn/domain';
import type { ClaimedEmail, OutboxStore } from '@posthorn/database';

/** How long the answer that came with the claim is valid. For an email that has waited longer it is queried again: the recipient may have been suppressed meanwhile. */
const ANSWER_FRESH_MS = 1_000;
const MAX_PER_LOOKUP = 500;

type RecipientQuery = Pick<ClaimedEmail, 'id' | 'withheldFor' | 'askedAtMs'>;

/** Checks at the moment of sending whether an email must be withheld from its recipient. */
export class WithheldRecipients {
  private readonly lookUps: Coalescer<EmailId, WithheldReason | null>;

  constructor(outbox: Pick<OutboxStore, 'askWhyWithheld'>) {
    this.lookUps = new Coalescer({
      serve: (ids) => outbox.askWhyWithheld(ids),
      maxItems: MAX_PER_LOOKUP,
    });
  }

  /**
   * Why the email is withheld from its recipient; null: it is not. The answer is at most one second old.
   *
   * @throws what the database throws
   */
  whyWithheld({ id, withheldFor, askedAtMs }: RecipientQuery): Promise<WithheldReason | null> {
    const isFresh = suspensionProofNowMs() - askedAtMs < ANSWER_FRESH_MS;
    return withheldFor !== null || isFresh ? Promise.resolve(withheldFor) : this.lookUps.add(id);
  }
}
