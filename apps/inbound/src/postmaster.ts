import { inboundMails } from '@posthorn/platform';
import type { MailReceiver } from '@posthorn/reports';

/** Mailboxes that every domain that receives mail must have (RFC 5321, section 4.5.1; RFC 2142). */
const MAILBOXES = ['postmaster', 'abuse'];

/**
 * What takes mail to the postmaster, also without a domain, or to `abuse`. It is counted and reported, and not kept: where people are to read it, another
 * server has to receive it.
 *
 * @param onMail called for each mail, with the mailbox; nothing else of it may be logged
 */
export function postmasterOf(
  domain: string,
  onMail: (mail: Error) => void,
): (address: string) => MailReceiver | undefined {
  const addresses = ['postmaster', ...MAILBOXES.map((mailbox) => `${mailbox}@${domain}`)];
  return (address) => {
    if (!addresses.includes(address.toLowerCase())) return undefined;
    const mailbox = address.toLowerCase().split('@', 1)[0];
    return () => {
      inboundMails.inc({ kind: 'postmaster' });
      onMail(new Error(`it was for ${mailbox}`));
      return Promise.resolve(true);
    };
  };
}
