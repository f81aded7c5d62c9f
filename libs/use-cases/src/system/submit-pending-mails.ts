import { type PendingMail, type PendingMailStore, sealContextOf } from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import { submitAll } from './submit-all.ts';
import type { MailDraft, SendSystemMail } from './send-system-mail.ts';

/** The process that stores a mail also submits it; an older one was left behind by a process that died. */
const MIN_AGE_SECONDS = 10;

interface SubmitPendingMailsOptions {
  readonly store: Pick<PendingMailStore, 'mails' | 'pending' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'requireSender'>;
  readonly secretBox: SecretBox;
  /** The prefix of their idempotency keys, unique to this kind of mail. */
  readonly kind: string;
  /** Called with failures to submit mails; these stay pending and are retried. */
  readonly onError: (error: unknown) => void;
}

/**
 * Submits pending mails for sending. A mail is stored, encrypted, in the transaction of what it is about; from then on it is pending until it is
 * durable as an email. All attempts use the same idempotency key and content: nothing is lost when a process dies in between, and two
 * concurrent attempts send one mail.
 */
export class SubmitPendingMails {
  constructor(private readonly options: SubmitPendingMailsOptions) {}

  /**
   * Encrypts a mail for the row that records it as pending.
   *
   * @param id the uuid of the row
   * @throws Refusal (409) when this installation sends no mails of its own, because nobody would receive it
   */
  seal(id: string, mail: MailDraft): Buffer {
    this.options.systemMail.requireSender();
    return this.options.secretBox.seal(JSON.stringify(mail), this.context(id));
  }

  /** Submits a mail that is committed. Never rejects: a mail that fails stays pending. */
  async submit({ id, sealedMail }: PendingMail): Promise<boolean> {
    const { secretBox, systemMail, store, kind, onError } = this.options;
    try {
      const mail = JSON.parse(secretBox.open(sealedMail, this.context(id)).toString()) as MailDraft;
      await systemMail.send({ ...mail, idempotencyKey: `${kind}:${id}` });
      await store.settle(id);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  /**
   * Submits mails that were left behind by whoever recorded them.
   *
   * @param shouldContinue called before each; the remaining ones are left to the next run
   * @returns how many were submitted
   */
  async submitPending(shouldContinue: () => boolean = () => true): Promise<number> {
    const { store } = this.options;
    return submitAll({
      readAfter: (after, limit) => store.pending(MIN_AGE_SECONDS, after, limit),
      submit: (mail) => this.submit(mail),
      shouldContinue,
    });
  }

  private context(id: string): string {
    return sealContextOf(this.options.store.mails, id);
  }
}
