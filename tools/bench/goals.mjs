/**
 * What is measured, and what it should be. `least` and `most` bound the figure that counts: the ratio where there is a
 * yardstick and `unit` is absent, else the figure itself.
 *
 * @typedef {{ least?: number, most?: number }} Bound
 * @typedef {{ what: string, unit?: string, goal: Bound, stretch?: Bound }} Goal
 */

/** @type {Readonly<Record<string, Goal>>} */
export const GOALS = {
  'accept-1': { what: 'accept, 1 at once', unit: 'ms', goal: { most: 3 }, stretch: { most: 2 } },
  'accept-32': { what: 'accept, 32 at once', goal: { least: 0.55 }, stretch: { least: 0.65 } },
  'accept-128': { what: 'accept, 128 at once', goal: { least: 0.7 }, stretch: { least: 0.85 } },
  'idempotent-32': { what: 'accept with a key, 32 at once', goal: { least: 0.4 }, stretch: { least: 0.5 } },
  'contacts-32': {
    what: 'accept with contactProperties, 32 at once',
    goal: { least: 0.3 },
    stretch: { least: 0.4 },
  },
  'templated-32': { what: 'accept templated, 32 at once', goal: { least: 0.55 }, stretch: { least: 0.65 } },
  'batch-8': {
    what: 'accept batches of 50, 8 at once, emails to echoes at 32',
    goal: { least: 2.2 },
    stretch: { least: 2.8 },
  },
  'statements-accept-32': {
    what: 'SQL statements an email, 32 at once',
    unit: 'statements',
    goal: { most: 0.25 },
    stretch: { most: 0.15 },
  },
  'statements-batch-8': {
    what: 'SQL statements an email, batches',
    unit: 'statements',
    goal: { most: 0.04 },
    stretch: { most: 0.02 },
  },
  'store': {
    what: 'what the database takes in groups as large as those of batches, judged and limited',
    goal: { least: 0.7 },
    stretch: { least: 0.9 },
  },
  'drain': { what: 'drain, recorded, without DKIM', goal: { least: 1 }, stretch: { least: 1.2 } },
  'drain-rsa': { what: 'drain, RSA-2048 DKIM, recorded', goal: { least: 1 }, stretch: { least: 1.2 } },
  'drain-both': {
    what: 'drain, RSA-2048 and Ed25519 DKIM, recorded',
    goal: { least: 0.8 },
    stretch: { least: 1 },
  },
  'compose': { what: 'compose, unsigned, one core', goal: { least: 1 }, stretch: { least: 2 } },
  'memory': {
    what: 'memory of the sender over a long run, both signatures: its end to a tenth of it',
    goal: { most: 1.15 },
    stretch: { most: 1.05 },
  },
  'due-ripe': {
    what: 'many due in one second: until the clock has rung for the last',
    unit: 'ms',
    goal: { most: 2_000 },
  },
  'due-drain': { what: 'many due in one second: drain, recorded', goal: { least: 1 } },
  'due-memory': {
    what: 'many due in one second: the process that holds most',
    unit: 'MiB',
    goal: { most: 300 },
  },
  'backlog-accept': {
    what: 'accept, 32 at once, beside a backlog that waits, to alone',
    goal: { least: 0.9 },
  },
  'backlog-drain': { what: 'drain beside a backlog that waits, to alone', goal: { least: 0.9 } },
  'backlog-redis': {
    what: 'what Redis keeps beside a backlog that waits, to before',
    goal: { most: 1.1 },
  },
  'idle': {
    what: 'idle: answer to relay, median',
    unit: 'ms',
    goal: { most: 30 },
    stretch: { most: 10 },
  },
  'lone': {
    what: 'a lone email beside a backlog: commit to relay, median',
    unit: 'ms',
    goal: { most: 50 },
    stretch: { most: 20 },
  },
  'posts': { what: 'tell, signed, not recorded', goal: { least: 0.9 }, stretch: { least: 1.1 } },
  'tell': { what: 'tell, signed, recorded', goal: { least: 0.9 }, stretch: { least: 1.1 } },
  'fair': {
    what: 'fair: p99 of healthy receivers beside dead and slow ones, to theirs alone',
    goal: { most: 2 },
    stretch: { most: 1.2 },
  },
};

/** @param {Bound | undefined} bound @param {string} [unit] */
export function boundText(bound, unit) {
  if (bound === undefined) return '–';
  const { least, most } = bound;
  return least === undefined ? `≤ ${most}${unitText(unit)}` : `≥ ${least}`;
}

/** What stands behind a figure: a count of statements says in its row what it counts. @param {string} [unit] */
export function unitText(unit) {
  return unit === undefined || unit === 'statements' ? '' : ` ${unit}`;
}

/** @param {Bound | undefined} bound @param {number} value */
export function isWithin(bound, value) {
  if (bound === undefined) return false;
  const { least = -Infinity, most = Infinity } = bound;
  return value >= least && value <= most;
}
