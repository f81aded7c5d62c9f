/**
 * For tests that kill workers: rows are revived 2 s after their lease has ended, and a transmission begins only with 2 s of it left. Other tests
 * must not use these, because a pause of the machine could end a lease.
 */
export const SHORT_LEASES = {
  LEASE_MS: '5000',
  LEASE_RENEWAL_MS: '1000',
  LEASE_MARGIN_MS: '2000',
  LEASE_GRACE_MS: '2000',
};

/** For tests that kill and freeze everything under load: the rows of a dead process are claimed again before the test ends. */
export const LEASES_FOR_KILLS = {
  LEASE_MS: '10000',
  LEASE_RENEWAL_MS: '2000',
  LEASE_MARGIN_MS: '4000',
  LEASE_GRACE_MS: '4000',
};

/** For tests that stop Postgres or Redis under load: rows claimed by a statement whose answer was lost are revived before the test ends. */
export const LEASES_FOR_OUTAGES = {
  LEASE_MS: '15000',
  LEASE_RENEWAL_MS: '3000',
  LEASE_MARGIN_MS: '5000',
  LEASE_GRACE_MS: '5000',
};
