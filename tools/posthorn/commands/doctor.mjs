import { explain } from '../explain.mjs';
import { visible } from '../print.mjs';

/** @typedef {import('@posthorn/use-cases/operate').CheckResult} CheckResult */

/** How a finding is marked, and in which order they are shown. */
const MARKS = { fault: '✗', unknown: '?', advice: '!', good: '✓' };

/** @type {import('../commands.mjs').Command[]} */
export const DOCTOR_COMMANDS = [
  {
    name: 'doctor',
    sentence:
      'Checks a whole installation with the settings that it finds here, changes nothing, and says what to fix; exits with 1 if something is wrong.',
    flags: {},
    example: 'doctor',
    worksAlone: true,
    run: async () => {
      const { examineInstallation } = await import('../doctor/examine-installation.mjs');
      return examineInstallation(findingOf);
    },
    show: ({ isSound, results }) => [...linesOf(results), '', summaryOf(isSound, results)].join('\n'),
    isDone: ({ isSound }) => isSound,
  },
];

/** What a check says that failed: the sentence has what to do. @param {Error} error @returns {import('@posthorn/domain').Finding} */
function findingOf(error) {
  return { kind: 'fault', found: explain(/** @type {any} */ (error).errors?.[0] ?? error) };
}

/** What is the same for several checks is said once, before their names. @param {readonly CheckResult[]} results */
function linesOf(results) {
  return Object.keys(MARKS)
    .flatMap((kind) => alike(results.filter((result) => result.kind === kind)))
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
 * Groups what says the same. A Node that is too old is among what the doctor finds, so its words are put together without
 * what only newer ones have, such as `Map.groupBy`.
 *
 * @param {CheckResult[]} results
 */
function alike(results) {
  /** @type {Map<string, CheckResult[]>} */
  const groups = new Map();
  for (const result of results) {
    const said = `${result.found}\n${result.mend}`;
    groups.set(said, [...(groups.get(said) ?? []), result]);
  }
  return [...groups.values()];
}

/** What several checks found is one thing to fix. */
function summaryOf(isSound, results) {
  const count = (kind) => alike(results.filter((result) => result.kind === kind)).length;
  const faults = count('fault');
  const counts = `${faults} ${faults === 1 ? 'fault' : 'faults'}, ${count('unknown')} unknown, ${count('advice')} to consider, ${count('good')} good`;
  return isSound ? `Nothing is wrong (${counts}).` : `Something is wrong (${counts}).`;
}
