import { type DatabaseClock, newUuid } from '@posthorn/kernel';
import {
  type InvitationMailStore,
  type NewInvitationMail,
  placeOf,
  SEALED_COLUMNS,
} from '@posthorn/database';
import { hashSecret, type SecretBox } from '@posthorn/signing';
import { type SendSystemMail, type SystemMail } from '../system/send-system-mail.ts';
import { invitationMail } from './invitation-mail.ts';
import { newInvitationToken } from './invitation-link.ts';

/** Whoever has just written one down hands it over himself; what is older was left behind. */
const OWED_FOR_SECONDS = 10;
const MAILS_A_LOOK = 100;

export interface SendInvitationMailsOptions {
  readonly mails: Pick<InvitationMailStore, 'owed' | 'settle'>;
  readonly systemMail: Pick<SendSystemMail, 'send' | 'from'>;
  readonly secretBox: SecretBox;
  readonly clock: DatabaseClock;
  /** The address of the gateway as recipients see it, without a slash at its end. */
  readonly publicUrl: string;
  /** Told of mails that could not be handed over; they are owed still, and tried again. */
  readonly onError: (error: unknown) => void;
}

/**
 * Hands the mails of invitations over for sending. A mail is written down, encrypted, in the transaction of its invitation;
 * from then on it is owed until it is durable as an email. Whoever hands it over does so under the same idempotency key
 * with the same content: a process that dies in between loses nothing, and two at once send one mail.
 */
export class SendInvitationMails {
  constructor(private readonly options: SendInvitationMailsOptions) {}

  /**
   * Writes a mail with a new link.
   *
   * @throws Refusal (409) when this installation sends no mails of its own, so that it would be of no use
   */
  write(email: string, workspaceName: string): NewInvitationMail {
    void this.options.systemMail.from;
    const { secretBox, clock, publicUrl } = this.options;
    const token = newInvitationToken();
    const id = newUuid(clock.nowMs());
    const mail = invitationMail(email, workspaceName, `${publicUrl}/invitations/${token}`);
    return { id, sealedMail: secretBox.seal(JSON.stringify(mail), place(id)), tokenHash: hashSecret(token) };
  }

  /** Hands over a mail that is written down by now. Never rejects: what fails is owed still. */
  async handOver({ id, sealedMail }: Pick<NewInvitationMail, 'id' | 'sealedMail'>): Promise<boolean> {
    const { secretBox, systemMail, mails, onError } = this.options;
    try {
      const mail = JSON.parse(secretBox.open(sealedMail, place(id)).toString()) as SystemMail;
      await systemMail.send({ ...mail, idempotencyKey: `invitation-mail:${id}` });
      await mails.settle(id);
      return true;
    } catch (error) {
      onError(error);
      return false;
    }
  }

  /** Hands over what was left behind by whoever wrote it down. @returns how many could be */
  async handOverOwed(): Promise<number> {
    let [handedOver, after]: [number, string | null] = [0, null];
    for (;;) {
      const owed = await this.options.mails.owed(OWED_FOR_SECONDS, after, MAILS_A_LOOK);
      for (const mail of owed) if (await this.handOver(mail)) handedOver += 1;
      if (owed.length < MAILS_A_LOOK) return handedOver;
      after = owed.at(-1)!.id;
    }
  }
}

function place(id: string): string {
  return placeOf(SEALED_COLUMNS.invitationMail, id);
}
