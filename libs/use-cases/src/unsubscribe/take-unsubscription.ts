import type { SubscriptionStore } from '@posthorn/database';
import { inboundMails } from '@posthorn/platform';
import type { isAutomaticReply, MailReceiver } from '@posthorn/reports';
import { type AddressesOfEmails, emailOfAddress } from '../reports/email-of-address.ts';

interface TakeUnsubscriptionOptions extends AddressesOfEmails {
  readonly subscriptions: Pick<SubscriptionStore, 'find' | 'setStatus'>;
  readonly isAutomaticReply: typeof isAutomaticReply;
}

/** Receives mail by which recipients unsubscribe. Whoever has the address may do it, as with the link; no mail is an answer. */
export class TakeUnsubscription {
  constructor(private readonly options: TakeUnsubscriptionOptions) {}

  /**
   * What takes mail to this address, idempotently; undefined: there is no such address, or its email was removed.
   *
   * @throws what the database throws
   */
  async receiverOf(address: string): Promise<MailReceiver | undefined> {
    const { subscriptions } = this.options;
    const id = emailOfAddress(address, this.options);
    if (id === undefined || (await subscriptions.find(id)) === undefined) return undefined;
    return async (mail) => {
      const isWish = !this.options.isAutomaticReply(mail);
      if (isWish) await subscriptions.setStatus(id, 'UNSUBSCRIBED');
      inboundMails.inc({ kind: isWish ? 'unsubscribe' : 'automatic_reply' });
      return true;
    };
  }
}
