import type { ClaimedDomain } from '@posthorn/database';
import type { ProofChange } from '@posthorn/domain';
import type { Logger } from '@posthorn/platform';

/** Says what has happened to a domain that was verified, or is now. */
export function logDomain(logger: Logger, change: ProofChange, { id, workspaceId }: ClaimedDomain): void {
  const where = { workspaceId, identityId: id };
  if (change === 'verified') logger.info(where, 'a domain was verified');
  if (change === 'recovered') logger.info(where, 'the record of a verified domain is right again');
  if (change === 'warned')
    logger.warn(where, 'the record of a verified domain has been missing or wrong for a day');
  if (change === 'unverified')
    logger.warn(where, 'a domain is not verified any more: its record was missing or wrong for three days');
}
