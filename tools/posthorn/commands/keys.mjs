import { dateTime, table, visible } from '../print.mjs';
import { WORKSPACE_FLAG } from './flags.mjs';

/** @type {import('../commands.mjs').Command[]} */
export const KEY_COMMANDS = [
  {
    name: 'key create',
    sentence: 'Creates an API key and shows its secret, only this once.',
    flags: {
      workspace: WORKSPACE_FLAG,
      name: {
        value: 'NAME',
        required: true,
        field: 'displayName',
        sentence: 'who or what will use it, up to 100 characters',
      },
      role: {
        value: 'ROLE',
        sentence: 'VIEWER reads, API_USER also sends, EDITOR also manages (default: API_USER)',
      },
    },
    example: 'key create --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --name "Web shop" --role API_USER',
    run: createKey,
    show: ({ id, displayName, role, secretKey }) =>
      `Created ${id} (${visible(displayName)}), role ${role}. Its secret:\n\n  ${secretKey}\n\n` +
      'It is shown only this once and stored nowhere: save it now.',
  },
  {
    name: 'key list',
    sentence: 'Lists the API keys of a workspace, their secrets abbreviated.',
    flags: { workspace: WORKSPACE_FLAG },
    example: 'key list --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41',
    run: async ({ useCases, workspaces, apiKeys }, { workspace }) => {
      const { id } = await useCases.requireWorkspace(workspaces, workspace);
      return apiKeys.list(id);
    },
    show: (keys, { workspace }) =>
      table(
        keys,
        {
          'ID': ({ id }) => id,
          'NAME': ({ displayName }) => displayName,
          'ROLE': ({ role }) => role,
          'SECRET': ({ secretHint }) => secretHint,
          'CREATED (UTC)': ({ createdAt }) => dateTime(createdAt),
          'LAST USED (UTC)': ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : dateTime(lastUsedAt)),
        },
        `It has no keys yet; create one: key create --workspace ${workspace} --name NAME`,
      ),
  },
  {
    name: 'key delete',
    sentence: 'Deletes an API key for good; it stops working at once.',
    flags: {
      workspace: WORKSPACE_FLAG,
      key: { value: 'ID', required: true, sentence: 'the id of the key, as `key list` shows it' },
    },
    example: 'key delete --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --key aki_01h2xcejqtf2nbrexx3vqjhp41',
    run: async ({ useCases, workspaces, apiKeys, actor }, { workspace, key }) => {
      const { id } = await useCases.requireWorkspace(workspaces, workspace);
      return useCases.deleteApiKey(apiKeys, id, actor, key);
    },
    show: ({ id, displayName }) => `Deleted ${id} (${visible(displayName)}).`,
  },
];

/** @param {import('../command-context.mjs').CommandContext} context @param {import('../commands.mjs').Given} given */
async function createKey({ useCases, workspaces, deletion, apiKeys, actor }, given) {
  const { workspace, name, role } = given;
  const { id } = await useCases.requireOpenWorkspace(workspaces, deletion, workspace);
  const { key, secretKey } = await useCases.createApiKey(apiKeys, id, actor, { displayName: name, role });
  return { ...key, secretKey };
}
