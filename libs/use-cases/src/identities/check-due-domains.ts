import { POSTHORN } from '@posthorn/domain';
import type { DomainCheckStore } from '@posthorn/database';
import { CHECK_LEASE_SECONDS, type CheckDomain } from './check-domain.ts';

/** How many domains are checked concurrently: a check mostly waits. */
const DOMAINS_AT_ONCE = 50;

interface CheckDueDomainsOptions {
  readonly checks: Pick<DomainCheckStore, 'claimDue'>;
  readonly checkDomain: Pick<CheckDomain, 'check'>;
  readonly onError: (error: Error) => void;
}

/** Checks every domain that is due. Safe to run again and concurrently: each run claims domains of its own. */
export class CheckDueDomains {
  constructor(private readonly options: CheckDueDomainsOptions) {}

  /**
   * @param withinMs no further domains are claimed after this time; the next run continues with the rest
   * @returns how many were checked
   */
  async run(withinMs: number): Promise<number> {
    const { checks, checkDomain, onError } = this.options;
    const deadline = performance.now() + withinMs;
    let looked = 0;
    for (;;) {
      const due = await checks.claimDue(DOMAINS_AT_ONCE, CHECK_LEASE_SECONDS);
      const results = await Promise.allSettled(due.map((domain) => checkDomain.check(domain, POSTHORN)));
      // A check that cannot be saved is due again when its claim expires, and does not affect the others.
      for (const result of results) if (result.status === 'rejected') onError(result.reason as Error);
      looked += due.length;
      if (due.length < DOMAINS_AT_ONCE || performance.now() > deadline) return looked;
    }
  }
}
