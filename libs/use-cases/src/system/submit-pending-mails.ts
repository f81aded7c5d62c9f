import { type PendingMail, type PendingMailStore, sealContextOf } from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import type { MailDraft, SendSystemMail } from './send-system-mail.ts';
import { SubmitPending } from './submit-pending.ts';

/** The process that stores a mail also submits it; an older one was left behind by a process that died. */
const MIN_AGE_SECONDS = 10;

interface SubmitPendingMailsOptions {
  readonly store: Pick<PendingMailStore, 'mails' | 'pending' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'requireSender'>;
  readonly secretBox: SecretBox;
  /** The prefix of their idempotency keys, unique to this kind of mail. */
  readonly kind: string;
  readonly onError: (error: unknown) => void;
}

/**
 * Submits pending mails for sending. A mail is stored, encrypted, in the transaction of what it is about; from then on it is pending until it is
 * durable as an email. All attempts use the same idempotency key and content: nothing is lost when a process dies in between, and two
 * concurrent attempts send one mail.
 */
export class SubmitPendingMails extends SubmitPending<PendingMail> {
  constructor(private readonly options: SubmitPendingMailsOptions) {
    super({ settle: (id) => options.store.settle(id), onError: options.onError });
  }

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

  protected readAfter(after: string | null, limit: number): Promise<PendingMail[]> {
    return this.options.store.pending(MIN_AGE_SECONDS, after, limit);
  }

  protected async send({ id, sealedMail }: PendingMail): Promise<void> {
    const { secretBox, systemMail, kind } = this.options;
    const mail = JSON.parse(secretBox.open(sealedMail, this.context(id)).toString()) as MailDraft;
    await systemMail.send({ ...mail, idempotencyKey: `${kind}:${id}` });
  }

  private context(id: string): string {
    return sealContextOf(this.options.store.mails, id);
  }
}
