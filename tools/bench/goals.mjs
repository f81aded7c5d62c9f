/**
 * What is measured, and what it should be: `min` or `max` is the goal, followed by the stretch goal if there is one. They bound the figure
 * itself if there is a `unit`, or else its ratio to the baseline.
 *
 * @typedef {{ what: string, unit?: string, min?: readonly number[], max?: readonly number[] }} Goal
 */

/** @type {Readonly<Record<string, Goal>>} */
export const GOALS = {
  'accept-1': { what: 'accept, 1 at once', unit: 'ms', max: [3, 2] },
  'accept-32': { what: 'accept, 32 at once', min: [0.55, 0.65] },
  'accept-128': { what: 'accept, 128 at once', min: [0.7, 0.85] },
  'idempotent-32': { what: 'accept with a key, 32 at once', min: [0.4, 0.5] },
  'contacts-32': { what: 'accept with contactProperties, 32 at once', min: [0.3, 0.4] },
  'templated-32': { what: 'accept templated, 32 at once', min: [0.55, 0.65] },
  'batch-8': { what: 'accept batches of 50, 8 at once, emails to echoes at 32', min: [2.2, 2.8] },
  'statements-accept-32': {
    what: 'SQL statements per email, 32 at once',
    unit: 'statements',
    max: [0.25, 0.15],
  },
  'statements-batch-8': { what: 'SQL statements per email, batches', unit: 'statements', max: [0.04, 0.02] },
  'store': {
    what: 'store in groups as large as those of batches, with all checks',
    min: [0.7, 0.9],
  },
  'drain': { what: 'drain, recorded, without DKIM', min: [1, 1.2] },
  'drain-rsa': { what: 'drain, RSA-2048 DKIM, recorded', min: [1, 1.2] },
  'drain-both': { what: 'drain, RSA-2048 and Ed25519 DKIM, recorded', min: [0.8, 1] },
  'compose': { what: 'compose, unsigned, one core', min: [1, 2] },
  'memory': {
    what: 'memory of the sender over a long run, both signatures: at the end relative to after a tenth',
    max: [1.15, 1.05],
  },
  'due-found': {
    what: 'many due in one second: until the clock has found the last',
    unit: 'ms',
    max: [2_000],
  },
  'due-drain': { what: 'many due in one second: drain, recorded', min: [1] },
  'due-memory': { what: 'many due in one second: most memory of a process', unit: 'MiB', max: [300] },
  'backlog-accept': {
    what: 'accept, 32 at once, with scheduled emails waiting, relative to without',
    min: [0.9],
  },
  'backlog-drain': { what: 'drain with scheduled emails waiting, relative to without', min: [0.9] },
  'backlog-redis': { what: 'data in Redis with scheduled emails waiting, relative to without', max: [1.1] },
  'idle': { what: 'idle: answer to relay, median', unit: 'ms', max: [30, 10] },
  'lone': {
    what: 'one email during another workspace’s backlog: commit to relay, median',
    unit: 'ms',
    max: [50, 20],
  },
  'posts': { what: 'deliver to webhooks, signed, not recorded', min: [0.9, 1.1] },
  'tell': { what: 'deliver to webhooks, signed, recorded', min: [0.9, 1.1] },
  'fair': {
    what: 'fair: p99 of healthy receivers among dead and slow ones, relative to alone',
    max: [2, 1.2],
  },
};

export const [GOAL, STRETCH] = [0, 1];

/** @param {Goal} goal @param {number} which GOAL or STRETCH */
export function boundText({ unit, min, max }, which) {
  const bound = (min ?? max)?.[which];
  if (bound === undefined) return '–';
  return min === undefined ? `≤ ${bound}${unitText(unit)}` : `≥ ${bound}`;
}

/** The unit printed after a figure; the name of a row of statements already says what it counts. @param {string} [unit] */
export function unitText(unit) {
  return unit === undefined || unit === 'statements' ? '' : ` ${unit}`;
}

/** @param {Goal} goal @param {number} which GOAL or STRETCH @param {number} value */
export function isWithin({ min, max }, which, value) {
  const bound = (min ?? max)?.[which];
  if (bound === undefined) return false;
  return min === undefined ? value <= bound : value >= bound;
}
