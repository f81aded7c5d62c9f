import type { EmailId } from '@posthorn/kernel';

/**
 * The Message-ID of an email (RFC 5322, section 3.6.4), without the angle brackets: the unique part of its id, on the
 * sender's domain. The same email always has the same one, so that what is transmitted twice is seen as one message.
 *
 * @param senderDomain the domain of the sender's address, in ASCII
 */
export function messageIdFor(emailId: EmailId, senderDomain: string): string {
  return `${emailId.slice(emailId.lastIndexOf('_') + 1)}@${senderDomain.toLowerCase()}`;
}
