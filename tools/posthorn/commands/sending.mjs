import { dateTime, table, tellsProgress, visible } from '../print.mjs';

const SCOPE_FLAGS = {
  everything: { sentence: 'the emails of all workspaces, and all deliveries to webhooks' },
  emails: { sentence: 'the emails of all workspaces' },
  webhooks: { sentence: 'all deliveries to webhooks' },
  workspace: { value: 'ID', sentence: 'the emails of one workspace' },
};

const SCOPES = Object.keys(SCOPE_FLAGS);

/** @type {Record<string, string>} */
const RETRIES = { emails: 'Retries of emails', webhooks: 'Retries of deliveries to webhooks' };

/** @type {import('../commands.mjs').Command[]} */
export const SENDING_COMMANDS = [
  {
    name: 'pause',
    sentence:
      'Pauses emails or webhooks: they are accepted and recorded, and wait; what is already being sent is finished.',
    flags: {
      ...SCOPE_FLAGS,
      reason: {
        value: 'REASON',
        required: true,
        sentence:
          'what people who find it paused should know; it is also in the audit log (that of the workspace, with --workspace)',
      },
    },
    exactlyOne: SCOPES,
    example: 'pause --emails --reason "The relay is down for maintenance until 14:00"',
    run: async (context, given) => {
      const { useCases, pausedLanes, actor } = context;
      const whose = await scopeOf(context, given);
      /** @type {import('@posthorn/use-cases/operate').Whose[]} */
      const parts = whose === 'everything' ? ['emails', 'webhooks'] : [whose];
      const pauses = [];
      for (const each of parts)
        pauses.push(await useCases.pauseSending(pausedLanes, each, actor, given.reason));
      return { whose, pauses };
    },
    show: ({ whose, pauses }) => [...pauses.map(pauseLine), `Resume: resume ${flagFor(whose)}`].join('\n'),
  },
  {
    name: 'resume',
    sentence:
      'Resumes what was paused, by an operator or because the database was restored; it leaves within seconds.',
    flags: {
      ...SCOPE_FLAGS,
      'everything': {
        sentence: 'the emails of all workspaces, and all deliveries to webhooks (so does `resume` alone)',
      },
      'fail-before': {
        value: 'TIME',
        field: 'failBefore',
        sentence:
          'emails that were due before this time, such as 2030-01-31T09:30:00Z, are FAILED and not sent',
      },
    },
    neverTogether: [SCOPES, ['fail-before', 'emails'], ['fail-before', 'webhooks']],
    example: 'resume --emails',
    run: resume,
    show: (resumption) =>
      [
        ...(resumption.whose === 'everything' ? endedLines(resumption) : [resumedLine(resumption)]),
        ...resumptionLines(resumption),
      ].join('\n'),
  },
  {
    name: 'hasten',
    sentence: 'Makes waiting retries due now, such as when a relay is back; they are sent at the usual pace.',
    flags: {
      ...SCOPE_FLAGS,
      lane: {
        value: 'LANE',
        sentence:
          'one lane: wrk_….retry (single emails), wrk_….bulk (batches and scheduled emails) or wh_… (deliveries to a webhook)',
      },
      domain: { value: 'DOMAIN', sentence: 'only emails to this domain, such as example.com' },
      class: {
        value: 'CLASS',
        sentence:
          'only emails whose last attempt failed like this: a class of docs/states.md such as rate_limited, no_reply, or other',
      },
    },
    exactlyOne: [...SCOPES, 'lane'],
    neverTogether: ['domain', 'class'].flatMap((flag) => [
      [flag, 'everything'],
      [flag, 'webhooks'],
    ]),
    example: 'hasten --emails --domain example.com',
    run: async (context, given) => {
      const { useCases, retries, actor } = context;
      const wanted = { domain: given.domain, class: given.class };
      const hastened = [];
      for (const each of await retriesIn(context, given)) {
        const onProgress = tellsProgress('rows of the outbox searched');
        hastened.push(await useCases.hastenRetries(retries, each, actor, wanted, { onProgress }));
      }
      return hastened;
    },
    show: (hastened) => hastened.flatMap(hastenedLines).join('\n'),
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
  // After a restore, only `resume` alone marks the emails that may have been sent already.
  if (whose === 'emails') return useCases.resumeSending(pausedLanes, whose, actor, { evenIfRestored: false });
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

/** @param {import('@posthorn/use-cases/operate').Pause & { wasPaused: boolean }} pause */
function pauseLine({ whose, reason, pausedAt, wasPaused }) {
  return wasPaused
    ? `${wordFor(whose)} has been paused since ${dateTime(pausedAt)} UTC, and its reason is kept: ${visible(reason)}`
    : `${wordFor(whose)} is paused: ${visible(reason)}`;
}

function resumedLine({ whose, wasPaused, allEmailsArePaused }) {
  const done = wasPaused ? `${wordFor(whose)} is resumed.` : `${wordFor(whose)} was not paused.`;
  return allEmailsArePaused && whose !== 'webhooks'
    ? `${done} But all emails are still paused: resume --emails`
    : done;
}

/** Each with its reason: somebody else may have had it. */
function endedLines({ resumed }) {
  if (resumed.length === 0) return ['Nothing was paused as a whole.'];
  return resumed.map(
    ({ whose, reason, pausedAt }) =>
      `${wordFor(whose)} is resumed. It had been paused since ${dateTime(pausedAt)} UTC: ${visible(reason)}`,
  );
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
async function scopeOf({ useCases, workspaces }, { workspace, emails = false, webhooks = false }) {
  if (emails) return 'emails';
  if (webhooks) return 'webhooks';
  return workspace === undefined ? 'everything' : (await useCases.requireWorkspace(workspaces, workspace)).id;
}

/** @param {import('../command-context.mjs').CommandContext} context @param {import('../commands.mjs').Given} given */
async function retriesIn(context, given) {
  const { useCases } = context;
  if (given.lane !== undefined) return [await useCases.retriesOfLane(context, given.lane)];
  const whose = await scopeOf(context, given);
  /** @type {import('@posthorn/use-cases/operate').Whose[]} */
  const parts = whose === 'everything' ? ['emails', 'webhooks'] : [whose];
  return parts.map(useCases.retriesOf);
}

/** @param {Omit<import('@posthorn/use-cases/operate').HastenedRetries, 'next'>} hastened */
function hastenedLines({ whose, hastened, paused, alreadyDue, inProgress }) {
  const name = RETRIES[whose] ?? `Retries of ${whose}`;
  return [
    hastened === 0 ? `${name}: none waited for a later time.` : `${name}: ${hastened} are due now.`,
    ...(paused > 0 ? [`${paused} of them are paused, and wait until they are resumed: status`] : []),
    ...(alreadyDue > 0 ? [`${alreadyDue} more were due already.`] : []),
    ...(inProgress > 0 ? [`${inProgress} more are in progress at this moment, and were left alone.`] : []),
  ];
}

function wordFor(whose) {
  if (whose === 'emails') return 'Email sending';
  return whose === 'webhooks' ? 'Webhook delivery' : `Workspace ${whose}`;
}

function flagFor(whose) {
  return SCOPES.includes(whose) ? `--${whose}` : `--workspace ${whose}`;
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
