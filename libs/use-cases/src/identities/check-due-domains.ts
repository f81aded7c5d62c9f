import { POSTHORN } from '@posthorn/domain';
import type { DomainCheckStore } from '@posthorn/database';
import { CHECK_LEASE_SECONDS, type CheckDomain } from './check-domain.ts';

/** As many are looked at together: most of the time of a check is waiting. */
const DOMAINS_AT_ONCE = 50;

interface CheckDueDomainsOptions {
  readonly checks: Pick<DomainCheckStore, 'claimDue'>;
  readonly checkDomain: Pick<CheckDomain, 'check'>;
  readonly onError: (error: Error) => void;
}

/** Looks at every domain whose time has come. Safe to run twice and at once: each claims its own. */
export class CheckDueDomains {
  constructor(private readonly options: CheckDueDomainsOptions) {}

  /**
   * @param withinMs no further domains are claimed after this time; those that are left are the next run's
   * @returns how many were looked at
   */
  async run(withinMs: number): Promise<number> {
    const { checks, checkDomain, onError } = this.options;
    const deadline = performance.now() + withinMs;
    let looked = 0;
    for (;;) {
      const due = await checks.claimDue(DOMAINS_AT_ONCE, CHECK_LEASE_SECONDS);
      const results = await Promise.allSettled(due.map((domain) => checkDomain.check(domain, POSTHORN)));
      // One that cannot be written down is due again when its claim has ended, and takes no other with it.
      for (const result of results) if (result.status === 'rejected') onError(result.reason as Error);
      looked += due.length;
      if (due.length < DOMAINS_AT_ONCE || performance.now() > deadline) return looked;
    }
  }
}
