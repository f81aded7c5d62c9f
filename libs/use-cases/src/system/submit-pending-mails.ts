import { type OwedMail, type OwedMailStore, placeOf } from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import { handOverAll } from './hand-over-all.ts';
import type { MailDraft, SendSystemMail } from './send-system-mail.ts';

/** Whoever records a mail also submits it; an older one was left behind. */
const OWED_FOR_SECONDS = 10;

interface SendOwedMailsOptions {
  readonly store: Pick<OwedMailStore, 'mails' | 'owed' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'requireSender'>;
  readonly secretBox: SecretBox;
  /** The prefix of their idempotency keys, unique to this kind of mail. */
  readonly kind: string;
  /** Called with failures to submit mails; these stay owed and are retried. */
  readonly onError: (error: unknown) => void;
}

/**
 * Submits owed mails for sending. A mail is stored, encrypted, in the transaction of what it is about; from then on it is owed until it is
 * durable as an email. All attempts use the same idempotency key and content: nothing is lost when a process dies in between, and two
 * concurrent attempts send one mail.
 */
export class SendOwedMails {
  constructor(private readonly options: SendOwedMailsOptions) {}

  /**
   * Encrypts a mail for the row that records it as owed.
   *
   * @param id the uuid of the row
   * @throws Refusal (409) when this installation sends no mails of its own, because nobody would receive it
   */
  seal(id: string, mail: MailDraft): Buffer {
    this.options.systemMail.requireSender();
    return this.options.secretBox.seal(JSON.stringify(mail), this.place(id));
  }

  /** Submits a mail that is committed. Never rejects: a mail that fails stays owed. */
  async handOver({ id, sealedMail }: OwedMail): Promise<boolean> {
    const { secretBox, systemMail, store, kind, onError } = this.options;
    try {
      const mail = JSON.parse(secretBox.open(sealedMail, this.place(id)).toString()) as MailDraft;
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
   * @param mayGoOn asked before each; the rest is found by the next run
   * @returns how many were submitted
   */
  async handOverOwed(mayGoOn: () => boolean = () => true): Promise<number> {
    const { store } = this.options;
    return handOverAll({
      readAfter: (after, limit) => store.owed(OWED_FOR_SECONDS, after, limit),
      handOver: (mail) => this.handOver(mail),
      mayGoOn,
    });
  }

  private place(id: string): string {
    return placeOf(this.options.store.mails, id);
  }
}
