/**
 * For what a dead process leaves behind: a lease is dead 2 s after its end, and a transmission begins only with 2 s of it left. Where nobody dies, a
 * pause of the machine must not end a lease.
 */
export const SHORT_LEASES = {
  LEASE_MS: '5000',
  LEASE_RENEWAL_MS: '1000',
  LEASE_MARGIN_MS: '2000',
  LEASE_GRACE_MS: '2000',
};

/** For stores that die under load: what was claimed by a statement whose answer was lost is free again before a test is over. */
export const LEASES_OF_STORES = {
  LEASE_MS: '15000',
  LEASE_RENEWAL_MS: '3000',
  LEASE_MARGIN_MS: '5000',
  LEASE_GRACE_MS: '5000',
};
