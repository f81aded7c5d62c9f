import { explain } from '../explain.mjs';
import { visible } from '../print.mjs';

/** @typedef {import('@posthorn/use-cases/operate').CheckResult} CheckResult */

/** The mark of each kind of finding, in the order in which they are shown. */
const MARKS = { fault: '✗', unknown: '?', advice: '!', good: '✓' };

/** @type {import('../commands.mjs').Command[]} */
export const DOCTOR_COMMANDS = [
  {
    name: 'doctor',
    sentence:
      'Checks a whole installation with the settings that it finds here, changes nothing, and says what to fix; exits with 1 if something is wrong.',
    flags: {},
    example: 'doctor',
    withoutDatabase: true,
    run: async () => {
      const { examineInstallation } = await import('../doctor/examine-installation.mjs');
      return examineInstallation(findingOf);
    },
    show: ({ isSound, results }) => [...linesOf(results), '', summaryOf(isSound, results)].join('\n'),
    isDone: ({ isSound }) => isSound,
  },
];

/** The finding of a check that threw; `explain` also says what to do. @param {Error} error @returns {import('@posthorn/domain').Finding} */
function findingOf(error) {
  return { kind: 'fault', found: explain(/** @type {any} */ (error).errors?.[0] ?? error) };
}

/** Equal findings of several checks are shown once, with the names of all checks. @param {readonly CheckResult[]} results */
function linesOf(results) {
  return Object.keys(MARKS)
    .flatMap((kind) => groupEqual(results.filter((result) => result.kind === kind)))
    .flatMap((group) => {
      const [{ kind, found, mend }] = /** @type {[CheckResult]} */ (group);
      const names = group.map(({ check }) => check).join(', ');
      const isShared = group.length > 1;
      return [
        `${MARKS[kind]} ${isShared ? '' : `${names}: `}${visible(found)}`,
        ...(mend === undefined ? [] : [`    ${visible(mend)}`]),
        ...(isShared ? [`    (${names})`] : []),
      ];
    });
}

/**
 * Groups results with equal texts. `Map.groupBy` is not used because the doctor must also run on a Node that is too old, which it reports.
 *
 * @param {CheckResult[]} results
 */
function groupEqual(results) {
  /** @type {Map<string, CheckResult[]>} */
  const groups = new Map();
  for (const result of results) {
    const text = `${result.found}\n${result.mend}`;
    groups.set(text, [...(groups.get(text) ?? []), result]);
  }
  return [...groups.values()];
}

/** Equal findings count once: they are one thing to fix. */
function summaryOf(isSound, results) {
  const count = (kind) => groupEqual(results.filter((result) => result.kind === kind)).length;
  const faults = count('fault');
  const counts = `${faults} ${faults === 1 ? 'fault' : 'faults'}, ${count('unknown')} unknown, ${count('advice')} to consider, ${count('good')} good`;
  return isSound ? `Nothing is wrong (${counts}).` : `Something is wrong (${counts}).`;
}
