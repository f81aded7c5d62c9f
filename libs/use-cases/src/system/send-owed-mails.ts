import { type OwedMail, type OwedMailStore, placeOf } from '@posthorn/database';
import type { SecretBox } from '@posthorn/signing';
import { handOverAll } from './hand-over-all.ts';
import type { MailDraft, SendSystemMail } from './send-system-mail.ts';

/** Whoever has just written one down hands it over himself; what is older was left behind. */
const OWED_FOR_SECONDS = 10;

interface SendOwedMailsOptions {
  readonly store: Pick<OwedMailStore, 'mails' | 'owed' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'requireSender'>;
  readonly secretBox: SecretBox;
  /** What an idempotency key of theirs begins with: no other kind of mail has it. */
  readonly kind: string;
  /** Told of mails that could not be handed over; they are owed still, and tried again. */
  readonly onError: (error: unknown) => void;
}

/**
 * Hands over for sending the mails that something owes. A mail is written down, encrypted, in the transaction of what it is about;
 * from then on it is owed until it is durable as an email. Whoever hands it over does so under the same idempotency key
 * with the same content: a process that dies in between loses nothing, and two at once send one mail.
 */
export class SendOwedMails {
  constructor(private readonly options: SendOwedMailsOptions) {}

  /**
   * Seals a mail for the row in which it is to be owed.
   *
   * @param id the uuid of the row
   * @throws Refusal (409) when this installation sends no mails of its own, so that it would be of no use
   */
  seal(id: string, mail: MailDraft): Buffer {
    this.options.systemMail.requireSender();
    return this.options.secretBox.seal(JSON.stringify(mail), this.place(id));
  }

  /** Hands over a mail that is written down by now. Never rejects: what fails is owed still. */
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
   * Hands over what was left behind by whoever wrote it down.
   *
   * @param mayGoOn asked before each; what is left is found by the next look
   * @returns how many could be
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
