import { dateTime, table, tellsProgress, visible } from '../print.mjs';

const SCOPE_FLAGS = {
  everything: { sentence: 'the emails of all workspaces' },
  workspace: { value: 'ID', sentence: 'the emails of one workspace' },
  webhooks: { sentence: 'not emails, but deliveries to webhooks' },
};

/** @type {import('../commands.mjs').Command[]} */
export const SENDING_COMMANDS = [
  {
    name: 'pause',
    sentence: 'Pauses emails: they are accepted and wait; what is already being sent is finished.',
    flags: {
      ...SCOPE_FLAGS,
      reason: {
        value: 'REASON',
        required: true,
        sentence:
          'what people who find it paused should know; it is also in the audit log (that of the workspace, with --workspace)',
      },
    },
    exactlyOne: ['everything', 'workspace', 'webhooks'],
    example: 'pause --everything --reason "The relay is down for maintenance until 14:00"',
    run: async (context, given) =>
      context.useCases.pauseSending(
        context.pausedLanes,
        await scopeOf(context, given),
        context.actor,
        given.reason,
      ),
    show: ({ whose, reason, pausedAt, wasPaused }) =>
      wasPaused
        ? `${wordFor(whose)} has been paused since ${dateTime(pausedAt)} UTC, and its reason is kept: ${visible(reason)}`
        : `${wordFor(whose)} is paused: ${visible(reason)}\nResume it: resume ${flagFor(whose)}`,
  },
  {
    name: 'resume',
    sentence:
      'Resumes what was paused, by an operator or because the database was restored; it leaves within seconds.',
    flags: {
      ...SCOPE_FLAGS,
      'everything': {
        sentence: 'all emails and webhooks that are paused as a whole (so does `resume` alone)',
      },
      'fail-before': {
        value: 'TIME',
        field: 'failBefore',
        sentence:
          'emails that were due before this time, such as 2030-01-31T09:30:00Z, are FAILED and not sent',
      },
    },
    neverTogether: [
      ['everything', 'workspace', 'webhooks'],
      ['fail-before', 'webhooks'],
    ],
    example: 'resume --everything',
    run: resume,
    show: ({ whose, wasPaused, everythingIsPaused, ...resumption }) => {
      const done = wasPaused ? `${wordFor(whose)} is resumed.` : notPaused(whose);
      const but = everythingIsPaused ? ' But everything is still paused: resume --everything' : '';
      return [`${done}${but}`, ...resumptionLines(resumption)].join('\n');
    },
  },
  {
    name: 'restored',
    sentence:
      'Pauses everything, as happens after a dump is restored: for a restored snapshot or base backup, which cannot be told from a restart.',
    flags: {},
    example: 'restored',
    // It counts nothing: whatever that took, or why it failed, would cover up that everything is paused now.
    run: async ({ useCases, pausedLanes, eras, actor }) => {
      await eras.beginByHand(actor);
      return { pauses: await useCases.listPauses(pausedLanes) };
    },
    show: ({ pauses }) =>
      `${pauseTable(pauses)}\n\nWhat was due at the backup, and what is due since then: status`,
  },
  {
    name: 'status',
    otherName: 'pause list',
    sentence:
      'Shows what is paused and why, and how many emails are due, wait for their time, or are being sent.',
    flags: {},
    example: 'status',
    run: ({ useCases, pausedLanes, outbox, eras }) => useCases.sendingStatus(pausedLanes, outbox, eras),
    show: showStatus,
  },
];

/** @param {import('../command-context.mjs').CommandContext} context @param {import('../commands.mjs').Given} given */
async function resume(context, given) {
  const { useCases, eras, heldEmails, pausedLanes, deletion, actor } = context;
  const whose = await scopeOf(context, given);
  const failBefore = given['fail-before'];
  const onProgress = tellsProgress('emails were given up');
  // `--fail-before` is refused with `--webhooks`.
  if (whose === 'webhooks' || (whose !== 'everything' && failBefore === undefined))
    return useCases.resumeSending(pausedLanes, whose, actor);
  if (whose !== 'everything')
    return useCases.resumeWorkspace({ held: heldEmails, pausedLanes }, whose, actor, {
      failBefore,
      onProgress,
    });
  const resumption = await useCases.resumeEverything(eras, pausedLanes, actor, { failBefore, onProgress });
  // Those that are being deleted cannot be resumed.
  const begun = await deletion.begun();
  const pauses = await useCases.listPauses(pausedLanes);
  const stillPaused = pauses.map(({ whose }) => whose).filter((whose) => !begun.has(whose));
  return { ...resumption, stillPaused };
}

function notPaused(whose) {
  return whose === 'everything' ? 'Nothing was paused as a whole.' : `${wordFor(whose)} was not paused.`;
}

function resumptionLines({ failed = 0, doubtful = 0, stillPaused = [] }) {
  return [
    ...stillPaused.map((whose) => `${wordFor(whose)} is still paused: resume ${flagFor(whose)}`),
    ...(failed > 0 ? [`${failed} emails were given up: they are FAILED, and webhooks are notified.`] : []),
    ...(doubtful > 0
      ? [
          `${doubtful} emails were due before the database was restored. They are sent, marked as possible duplicates.`,
        ]
      : []),
  ];
}

/** @param {import('@posthorn/use-cases/operate').SendingStatus} status */
function showStatus({ pauses, lanesWithDueEmails, emails, restoration }) {
  const { countedTo } = emails;
  const shown = (count, isMore = count === countedTo) => (isMore ? `${count} or more` : count);
  const [due, taken] = [emails.due, emails.taken].map((count) => shown(count));
  const waiting = shown(emails.waiting, emails.isMoreWaiting);
  return (
    `${pauseTable(pauses)}\n\nEmails: ${due} due, ${waiting} waiting for their time, ${taken} being sent\n` +
    `Lanes with due emails that are not paused: ${lanesWithDueEmails}` +
    (restoration === null ? '' : `\n\n${showRestoration(restoration)}`)
  );
}

/** @param {import('@posthorn/use-cases/operate').Restoration} restoration */
function showRestoration({ heldSince, dumpedAt, counted: { queues, areAll } }) {
  /** @type {Record<string, (row: import('@posthorn/database').DueSince) => string>} */
  const columns = {
    'QUEUE': ({ queue }) => queue,
    'DUE AT THE BACKUP': ({ dueBefore }) => String(dueBefore),
    'DUE SINCE': ({ dueSince }) => String(dueSince),
    'DUE LATER': ({ later }) => String(later),
  };
  return (
    `The database was restored; it has been paused since ${dateTime(heldSince)} UTC. The backup was made at about ${dateTime(dumpedAt)} UTC.\n` +
    `${table(queues, columns, '')}\n` +
    (areAll ? '' : 'There are more: only a part was counted.\n') +
    'What was due may have been sent after the backup. Give that up: resume --fail-before TIME, with the time at which\n' +
    'the installation that was backed up stopped. Or send it, possibly again: resume'
  );
}

/** @param {import('../command-context.mjs').CommandContext} context @param {import('../commands.mjs').Given} given */
async function scopeOf({ useCases, workspaces }, { workspace, webhooks = false }) {
  if (webhooks) return 'webhooks';
  return workspace === undefined ? 'everything' : (await useCases.requireWorkspace(workspaces, workspace)).id;
}

function wordFor(whose) {
  if (whose === 'webhooks') return 'Webhook delivery';
  return whose === 'everything' ? 'Everything' : `Workspace ${whose}`;
}

function flagFor(whose) {
  return whose === 'everything' || whose === 'webhooks' ? `--${whose}` : `--workspace ${whose}`;
}

/** @param {readonly import('@posthorn/use-cases/operate').Pause[]} pauses */
function pauseTable(pauses) {
  const columns = {
    'PAUSED': ({ whose }) => whose,
    'SINCE (UTC)': ({ pausedAt }) => dateTime(pausedAt),
    'REASON': ({ reason }) => reason,
  };
  return table(pauses, columns, 'Nothing is paused.');
}
