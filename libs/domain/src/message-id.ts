import type { EmailId } from '@posthorn/kernel';

/**
 * The Message-ID of an email (RFC 5322, section 3.6.4), without angle brackets: the unique part of its id at the sender's
 * domain. It is the same for every transmission, so that duplicates can be recognised.
 *
 * @param senderDomain the domain of the sender's address, in ASCII
 */
export function messageIdFor(emailId: EmailId, senderDomain: string): string {
  return `${emailId.slice(emailId.lastIndexOf('_') + 1)}@${senderDomain.toLowerCase()}`;
}
