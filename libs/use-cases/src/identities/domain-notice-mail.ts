import { type DomainNotice, expectedRecords } from '@posthorn/domain';
import type { IdentityWithRecords, PendingDomainNotice } from '@posthorn/database';
import { mailBody } from '../system/mail-body.ts';
import type { MailDraft } from '../system/send-system-mail.ts';

const WORDS: Readonly<Record<DomainNotice, { subject: string; what: string; then: string }>> = {
  AT_RISK: {
    subject: 'A domain will lose its verification',
    what: 'For a day, the DNS record that verifies it has been missing or wrong.',
    then: 'If that goes on for two more days, no email is accepted from the domain any more. Set the record again, or delete the domain if it is no longer needed.',
  },
  UNVERIFIED: {
    subject: 'A domain is no longer verified',
    what: 'For three days, the DNS record that verifies it was missing or wrong.',
    then: 'No email is accepted from the domain any more; those accepted before are still sent. Set the record again: the domain is then verified at the next check, or at once if you request one.',
  },
};

/** The mail that notifies the editors of a workspace of a change of one of its domains. */
export function domainNoticeMail(
  { notice, domain, workspaceName }: PendingDomainNotice,
  to: string,
): MailDraft {
  const { subject, what, then } = WORDS[notice];
  const which = `The domain ${domain.value} (${domain.id}) is one of the workspace “${workspaceName}”.`;
  return {
    to,
    subject: `${subject}: ${domain.value}`,
    ...mailBody([which, what, ...faultsOf(domain), then]),
  };
}

/** What the last check found of the record that verifies the domain, and the value that it should have. */
function faultsOf({ value, keys, check }: IdentityWithRecords): string[] {
  return expectedRecords(value, keys, undefined)
    .filter(({ isRequired }) => isRequired)
    .flatMap(({ name, value: expected }) => {
      const finding = check?.findings[name];
      return finding === undefined ? [] : [`${name} (TXT): ${finding.message}.`, `Value: ${expected}`];
    });
}
