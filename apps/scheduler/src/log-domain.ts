import type { ClaimedDomain } from '@posthorn/database';
import type { ProofChange } from '@posthorn/domain';
import type { Logger } from '@posthorn/platform';

const MESSAGES: Readonly<Record<ProofChange, readonly [level: 'info' | 'warn', message: string]>> = {
  verified: ['info', 'a domain was verified'],
  recovered: ['info', 'the record of a verified domain is correct again'],
  warned: ['warn', 'the record of a verified domain has been missing or wrong for a day'],
  unverified: ['warn', 'a domain is no longer verified: its record was missing or wrong for three days'],
};

/** Logs a change of the verification of a domain. */
export function logDomain(logger: Logger, change: ProofChange, { id, workspaceId }: ClaimedDomain): void {
  const [level, message] = MESSAGES[change];
  logger[level]({ workspaceId, identityId: id }, message);
}
