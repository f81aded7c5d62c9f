import { dateTime, table, visible } from '../print.mjs';

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
    run: ({ useCases, workspaces }, { name, 'monthly-limit': limit }) =>
      useCases.createWorkspace(workspaces, name, limit === undefined ? null : wholeNumber(limit)),
    show: (workspace) =>
      `Created ${workspace.id} (${visible(workspace.name)}), monthly limit: ${limitOf(workspace)}.\n` +
      `Next: identity create --workspace ${workspace.id} … and key create --workspace ${workspace.id} …`,
  },
  {
    name: 'workspace list',
    sentence: 'Lists the workspaces, the oldest first.',
    flags: {},
    example: 'workspace list',
    run: ({ workspaces }) => workspaces.list(),
    show: (workspaces) =>
      table(
        workspaces,
        {
          'ID': ({ id }) => id,
          'NAME': ({ name }) => name,
          'MONTHLY LIMIT': limitOf,
          'CREATED (UTC)': ({ createdAt }) => dateTime(createdAt),
        },
        'There is no workspace yet; create one: workspace create --name NAME',
      ),
  },
];

/** @param {import('@posthorn/database').Workspace} workspace */
function limitOf({ monthlyEmailLimit }) {
  if (monthlyEmailLimit === null) return 'the installation’s';
  return monthlyEmailLimit === 0 ? 'none' : String(monthlyEmailLimit);
}

/** What is no number becomes NaN, which the use case refuses in its own words. @param {string} text */
function wholeNumber(text) {
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}
