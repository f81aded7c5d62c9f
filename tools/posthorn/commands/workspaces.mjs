import { countsOf, dateTime, table, tellsProgress, visible } from '../print.mjs';
import { WORKSPACE_FLAG } from './flags.mjs';

/** The limits of a workspace. @type {Record<string, import('../commands.mjs').Flag>} */
const LIMIT_FLAGS = {
  'monthly-limit': {
    value: 'N',
    field: 'monthlyEmailLimit',
    sentence: 'accepted emails a month (0: no limit; `default`: MONTHLY_EMAIL_LIMIT of the installation)',
  },
  'rate': {
    value: 'N',
    field: 'ratePerSecond',
    sentence: 'requests per second for each key (0: no limit; `default`: RATE_LIMIT_PER_SECOND)',
  },
  'burst': {
    value: 'N',
    field: 'rateBurst',
    sentence: 'requests in one burst for each key (0: no limit; `default`: RATE_LIMIT_BURST)',
  },
};

/** The retention of a workspace. @type {Record<string, import('../commands.mjs').Flag>} */
const RETENTION_FLAGS = {
  'content-days': {
    value: 'N',
    field: 'contentDays',
    sentence:
      'the content of emails, 0 to 365 days (0: until they have left; `default`: RETENTION_CONTENT_DAYS)',
  },
  'metadata-days': {
    value: 'N',
    field: 'metadataDays',
    sentence: 'emails with all that is known about them, 1 to 3650 days (`default`: RETENTION_METADATA_DAYS)',
  },
  'event-days': {
    value: 'N',
    field: 'eventDays',
    sentence: 'events and their deliveries, 1 to 365 days (`default`: RETENTION_EVENT_DAYS)',
  },
};

/** @type {import('../commands.mjs').Command[]} */
export const WORKSPACE_COMMANDS = [
  {
    name: 'workspace create',
    sentence: 'Creates a workspace: a customer, with keys, identities and emails of its own.',
    flags: {
      'name': { value: 'NAME', required: true, sentence: 'what people call it, up to 100 characters' },
      'monthly-limit': {
        value: 'N',
        field: 'monthlyEmailLimit',
        sentence: 'accepted emails a month (0: no limit; default: MONTHLY_EMAIL_LIMIT of the installation)',
      },
    },
    example: 'workspace create --name "The shop" --monthly-limit 50000',
    run: ({ useCases, workspaces, actor }, { name, 'monthly-limit': limit }) =>
      useCases.createWorkspace(workspaces, actor, name, limit === undefined ? null : wholeNumber(limit)),
    show: (workspace) =>
      `Created ${workspace.id} (${visible(workspace.name)}), monthly limit: ${limitOf(workspace.monthlyEmailLimit)}.\n` +
      `Next: identity create --workspace ${workspace.id} … and key create --workspace ${workspace.id} …`,
  },
  {
    name: 'workspace limit',
    sentence: 'Gives a workspace limits of its own, or the default ones again; they apply at once.',
    flags: {
      workspace: WORKSPACE_FLAG,
      ...LIMIT_FLAGS,
    },
    atLeastOne: Object.keys(LIMIT_FLAGS),
    example: 'workspace limit --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --rate 500 --burst 1000',
    run: async ({ useCases, workspaces, deletion, actor }, { workspace, ...given }) => {
      const { id } = await useCases.requireOpenWorkspace(workspaces, deletion, workspace);
      return useCases.limitWorkspace(workspaces, id, actor, numbersIn(given, LIMIT_FLAGS));
    },
    show: (workspace) =>
      `${workspace.id} (${visible(workspace.name)}) now has: ${limitOf(workspace.monthlyEmailLimit)} (monthly limit), ` +
      `${limitOf(workspace.ratePerSecond)} (requests a second), ${limitOf(workspace.rateBurst)} (requests at once).`,
  },
  {
    name: 'workspace retain',
    sentence:
      'Sets how many days a workspace keeps what it sends; anything older is removed within about an hour.',
    flags: {
      workspace: WORKSPACE_FLAG,
      ...RETENTION_FLAGS,
    },
    atLeastOne: Object.keys(RETENTION_FLAGS),
    example:
      'workspace retain --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --content-days 30 --metadata-days 180',
    run: async ({ useCases, workspaces, deletion, actor }, { workspace, ...given }) => {
      const { id } = await useCases.requireOpenWorkspace(workspaces, deletion, workspace);
      return useCases.retainWorkspace(workspaces, id, actor, numbersIn(given, RETENTION_FLAGS));
    },
    show: (workspace) =>
      `${workspace.id} (${visible(workspace.name)}) now keeps: content ${daysOf(workspace.contentDays)}, ` +
      `metadata ${daysOf(workspace.metadataDays)}, events ${daysOf(workspace.eventDays)}.`,
  },
  {
    name: 'workspace record',
    sentence: 'Sets which events of its emails the feed of a workspace has, from the next one on.',
    flags: {
      'workspace': WORKSPACE_FLAG,
      'email-events': {
        value: 'WHICH',
        required: true,
        field: 'emailEvents',
        sentence: 'all, or subscribed: only those that one of its webhooks is subscribed to (default)',
      },
    },
    example: 'workspace record --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --email-events all',
    run: async ({ useCases, workspaces, deletion, actor }, { workspace, 'email-events': which }) => {
      const { id } = await useCases.requireOpenWorkspace(workspaces, deletion, workspace);
      return useCases.changeRecording(workspaces, id, actor, which);
    },
    show: ({ id, name, recordsAllEvents }) =>
      `The feed of ${id} (${visible(name)}) now gets ${recordsAllEvents ? 'all events of its emails' : 'only those events of its emails that a webhook is subscribed to'}.`,
  },
  {
    name: 'workspace track',
    sentence:
      'Gives the tracked links and images of a workspace an address of their own, from its next email on.',
    flags: {
      workspace: WORKSPACE_FLAG,
      url: {
        value: 'URL',
        required: true,
        sentence:
          'scheme and host, such as https://links.example.com (`default`: TRACKING_URL of the installation)',
      },
    },
    example: 'workspace track --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --url https://links.example.com',
    run: async ({ useCases, workspaces, deletion, actor }, { workspace, url }) => {
      const { id } = await useCases.requireOpenWorkspace(workspaces, deletion, workspace);
      return useCases.changeTrackingUrl(workspaces, id, actor, url === 'default' ? null : url);
    },
    show: ({ id, name, trackingUrl }) =>
      trackingUrl === null
        ? `Tracked links of ${id} (${visible(name)}) now begin like those of the installation.`
        : `Tracked links of ${id} (${visible(name)}) begin with ${trackingUrl}.\n` +
          'That host must lead to /t/ of the gateway, with a certificate, for as long as readers have such emails, and what leads there\n' +
          'must pass on `Host` as it was requested: only then is it kept from links of other workspaces. `posthorn doctor` checks both.',
  },
  {
    name: 'workspace delete',
    sentence: 'Deletes a workspace with everything in it, for good; nothing more is sent for it.',
    flags: {
      workspace: WORKSPACE_FLAG,
      name: { value: 'NAME', required: true, sentence: 'its name, so that a wrong id deletes nothing' },
    },
    example: 'workspace delete --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --name "The shop"',
    isDone: ({ deletedAt }) => deletedAt !== null,
    run: async ({ useCases, workspaces, deletion, actor }, { workspace, name }) => {
      const found = await useCases.requireWorkspace(workspaces, workspace);
      const onProgress = tellsProgress('rows deleted');
      return useCases.deleteWorkspace(deletion, found, actor, { name, onProgress });
    },
    show: ({ workspaceId, name, deletedAt, deleted, cancelled, inProgress }) =>
      [
        deletedAt === null
          ? `${workspaceId} (${visible(name)}) is closed, but not all is deleted yet, because something is still being sent or added (${inProgress} emails or events in progress). Run this again in a minute.`
          : `Deleted ${workspaceId} (${visible(name)}) at ${deletedAt.toISOString()}.`,
        ...countsOf('rows deleted', deleted),
        `${cancelled} due emails, events or deliveries were cancelled.`,
      ].join('\n'),
  },
  {
    name: 'workspace list',
    sentence: 'Lists the workspaces, oldest first.',
    flags: {},
    example: 'workspace list',
    run: ({ useCases, workspaces, deletion }) => useCases.listWorkspaces(workspaces, deletion),
    show: showList,
  },
];

/** So that a line has 80 columns at most. */
const NAME_COLUMNS = 24;
const TO_THE_DAY = 10;

/** @typedef {Awaited<ReturnType<typeof import('@posthorn/use-cases/operate').listWorkspaces>>[number]} ListedWorkspace */

/** A line for each, and further ones where there is more to say. @param {ListedWorkspace[]} workspaces */
function showList(workspaces) {
  /** @type {Record<string, (workspace: ListedWorkspace) => string>} */
  const columns = {
    'ID': ({ id }) => id,
    'NAME': ({ name }) => beginningOf(name),
    'A MONTH': ({ monthlyEmailLimit }) =>
      monthlyEmailLimit === null ? 'default' : limitOf(monthlyEmailLimit),
    'CREATED': ({ createdAt }) => dateTime(createdAt, TO_THE_DAY),
  };
  const [heading, ...lines] = table(
    workspaces,
    columns,
    'There is no workspace yet; create one: workspace create --name NAME',
  ).split('\n');
  return [
    heading,
    ...lines.flatMap((line, n) => [line, ...moreOf(/** @type {ListedWorkspace} */ (workspaces[n]))]),
  ].join('\n');
}

function beginningOf(name) {
  const shown = [...visible(name)];
  return shown.length <= NAME_COLUMNS ? name : `${shown.slice(0, NAME_COLUMNS - 1).join('')}…`;
}

/** @param {ListedWorkspace} workspace */
function moreOf({ ratePerSecond, rateBurst, deletionBegunAt }) {
  return [
    ...(ratePerSecond === null ? [] : [`  requests a second: ${limitOf(ratePerSecond)}`]),
    ...(rateBurst === null ? [] : [`  requests at once: ${limitOf(rateBurst)}`]),
    ...(deletionBegunAt === null ? [] : [`  being deleted since ${dateTime(deletionBegunAt)}`]),
  ];
}

/** @param {number | null} limit */
function limitOf(limit) {
  if (limit === null) return 'the installation’s';
  return limit === 0 ? 'none' : String(limit);
}

/** @param {number | null} days */
function daysOf(days) {
  return days === null ? 'as long as the installation' : `${days} ${days === 1 ? 'day' : 'days'}`;
}

/**
 * The given numbers, by the fields of their flags; null, which means the installation's default, for `default`.
 *
 * @param {import('../commands.mjs').Given} given
 * @param {Record<string, import('../commands.mjs').Flag>} flags
 */
function numbersIn(given, flags) {
  return Object.fromEntries(
    Object.entries(flags)
      .filter(([name]) => name in given)
      .map(([name, { field }]) => [field, given[name] === 'default' ? null : wholeNumber(given[name])]),
  );
}

/** Anything else becomes NaN, which the use case refuses. @param {string} text */
function wholeNumber(text) {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
