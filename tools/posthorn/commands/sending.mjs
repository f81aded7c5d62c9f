import { dateTime, table, visible } from '../print.mjs';

const WHOSE_FLAGS = {
  everything: { sentence: 'the emails of all workspaces' },
  workspace: { value: 'ID', sentence: 'the emails of one workspace' },
};

/** @type {import('../commands.mjs').Command[]} */
export const SENDING_COMMANDS = [
  {
    name: 'pause',
    sentence: 'Holds emails back: they are accepted and wait; what is being sent just now is finished.',
    flags: {
      ...WHOSE_FLAGS,
      reason: { value: 'REASON', required: true, sentence: 'what whoever finds it paused should know' },
    },
    exactlyOne: ['everything', 'workspace'],
    example: 'pause --everything --reason "The relay moves house until 14:00"',
    run: async (office, given) =>
      office.useCases.pauseSending(office.pausedLanes, await whoseIs(office, given), given.reason),
    show: ({ whose, reason, pausedAt, wasPaused }) =>
      wasPaused
        ? `${wordFor(whose)} has been paused since ${dateTime(pausedAt)} UTC, and its reason is kept: ${visible(reason)}`
        : `${wordFor(whose)} is paused: ${visible(reason)}\nLet the emails go again: resume ${flagFor(whose)}`,
  },
  {
    name: 'resume',
    sentence: 'Lets emails go again that were held back; they leave within seconds.',
    flags: WHOSE_FLAGS,
    exactlyOne: ['everything', 'workspace'],
    example: 'resume --everything',
    run: async (office, given) =>
      office.useCases.resumeSending(office.pausedLanes, await whoseIs(office, given)),
    show: ({ whose, wasPaused, everythingIsPaused }) => {
      const done = wasPaused ? `${wordFor(whose)} is resumed.` : `${wordFor(whose)} was not paused.`;
      return everythingIsPaused ? `${done} But everything is paused still: resume --everything` : done;
    },
  },
  {
    name: 'status',
    otherName: 'pause list',
    sentence:
      'Shows what is paused and why, and how many emails are due, wait for their time, or are being sent.',
    flags: {},
    example: 'status',
    run: ({ useCases, pausedLanes, outbox }) => useCases.sendingStatus(pausedLanes, outbox),
    show: ({ pauses, lanesWithDueEmails, emails: { due, waiting, taken } }) =>
      `${pauseTable(pauses)}\n\nEmails: ${due} due, ${waiting} waiting for their time, ${taken} being sent\n` +
      `Lanes with due emails that are not paused: ${lanesWithDueEmails}`,
  },
];

/** @param {import('../office.mjs').Office} office @param {import('../commands.mjs').Given} given */
async function whoseIs({ useCases, workspaces }, { workspace }) {
  return workspace === undefined ? 'everything' : (await useCases.requireWorkspace(workspaces, workspace)).id;
}

function wordFor(whose) {
  return whose === 'everything' ? 'Everything' : `Workspace ${whose}`;
}

function flagFor(whose) {
  return whose === 'everything' ? '--everything' : `--workspace ${whose}`;
}

/** @param {readonly import('@posthorn/use-cases').Pause[]} pauses */
function pauseTable(pauses) {
  const columns = {
    'PAUSED': ({ whose }) => whose,
    'SINCE (UTC)': ({ pausedAt }) => dateTime(pausedAt),
    'REASON': ({ reason }) => reason,
  };
  return table(pauses, columns, 'Nothing is paused.');
}
