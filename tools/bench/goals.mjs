/**
 * What is measured, and what it should be: `min` or `max` is the goal and, where there is one, the stretch. They bound the figure that counts:
 * the ratio where there is a yardstick and `unit` is absent, else the figure itself.
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
    what: 'SQL statements an email, 32 at once',
    unit: 'statements',
    max: [0.25, 0.15],
  },
  'statements-batch-8': { what: 'SQL statements an email, batches', unit: 'statements', max: [0.04, 0.02] },
  'store': {
    what: 'what the database takes in groups as large as those of batches, judged and limited',
    min: [0.7, 0.9],
  },
  'drain': { what: 'drain, recorded, without DKIM', min: [1, 1.2] },
  'drain-rsa': { what: 'drain, RSA-2048 DKIM, recorded', min: [1, 1.2] },
  'drain-both': { what: 'drain, RSA-2048 and Ed25519 DKIM, recorded', min: [0.8, 1] },
  'compose': { what: 'compose, unsigned, one core', min: [1, 2] },
  'memory': {
    what: 'memory of the sender over a long run, both signatures: its end to a tenth of it',
    max: [1.15, 1.05],
  },
  'due-ripe': {
    what: 'many due in one second: until the clock has rung for the last',
    unit: 'ms',
    max: [2_000],
  },
  'due-drain': { what: 'many due in one second: drain, recorded', min: [1] },
  'due-memory': { what: 'many due in one second: the process that holds most', unit: 'MiB', max: [300] },
  'backlog-accept': { what: 'accept, 32 at once, beside a backlog that waits, to alone', min: [0.9] },
  'backlog-drain': { what: 'drain beside a backlog that waits, to alone', min: [0.9] },
  'backlog-redis': { what: 'what Redis keeps beside a backlog that waits, to before', max: [1.1] },
  'idle': { what: 'idle: answer to relay, median', unit: 'ms', max: [30, 10] },
  'lone': { what: 'a lone email beside a backlog: commit to relay, median', unit: 'ms', max: [50, 20] },
  'posts': { what: 'tell, signed, not recorded', min: [0.9, 1.1] },
  'tell': { what: 'tell, signed, recorded', min: [0.9, 1.1] },
  'fair': {
    what: 'fair: p99 of healthy receivers beside dead and slow ones, to theirs alone',
    max: [2, 1.2],
  },
};

export const [GOAL, STRETCH] = [0, 1];

/** @param {Goal} goal @param {number} which GOAL or STRETCH */
export function sanitizeText({ unit, min, max }, which) {
  const bound = (min ?? max)?.[which];
  if (bound === undefined) return '–';
  return min === undefined ? `≤ ${bound}${unitText(unit)}` : `≥ ${bound}`;
}

/** What stands behind a figure: a count of statements says in its row what it counts. @param {string} [unit] */
export function unitText(unit) {
  return unit === undefined || unit === 'statements' ? '' : ` ${unit}`;
}

/** @param {Goal} goal @param {number} which GOAL or STRETCH @param {number} value */
export function isWithin({ min, max }, which, value) {
  const bound = (min ?? max)?.[which];
  if (bound === undefined) return false;
  return min === undefined ? value <= bound : value >= bound;
}
