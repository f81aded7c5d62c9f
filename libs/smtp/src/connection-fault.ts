import { OWN_FAULTS } from '@posthorn/domain';

/** The mailer puts a code of its own in place of the system's. */
type MailerError = NodeJS.ErrnoException & { readonly originalCode?: string };

/** Of a name with several addresses each has failed in its own way, and what they failed of together says nothing. */
const partsOf = (error: Error): MailerError[] =>
  'errors' in error ? (error.errors as MailerError[]) : [error];

const ownFaultOf = ({ originalCode, code }: MailerError): string | undefined =>
  OWN_FAULTS[originalCode ?? code ?? ''];

/** Whether a connection failed for want of something that this machine has run out of, or has lost. */
export function isFaultOfOurs(error: Error): boolean {
  return partsOf(error).some((part) => ownFaultOf(part) !== undefined);
}

/** What a connection failed of, for operators. */
export function describeError(error: Error): string {
  return partsOf(error)
    .map((part) => ownFaultOf(part) ?? part.message)
    .join('; ');
}
