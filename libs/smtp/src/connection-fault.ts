import { LOCAL_FAULTS } from '@posthorn/domain';

/** nodemailer replaces the system's error code by its own and keeps the original here. */
type MailerError = NodeJS.ErrnoException & { readonly originalCode?: string };

/** The errors of the single addresses, if a name has several: the AggregateError itself says nothing. */
const causesOf = (error: Error): MailerError[] =>
  'errors' in error ? (error.errors as MailerError[]) : [error];

const ownFaultOf = ({ originalCode, code }: MailerError): string | undefined =>
  LOCAL_FAULTS[originalCode ?? code ?? ''];

/** Whether a connection failed because this machine lacks a resource or its network. */
export function isFaultOfOurs(error: Error): boolean {
  return causesOf(error).some((part) => ownFaultOf(part) !== undefined);
}

/** Why a connection failed, for operators. */
export function describeError(error: Error): string {
  return causesOf(error)
    .map((part) => ownFaultOf(part) ?? part.message)
    .join('; ');
}
