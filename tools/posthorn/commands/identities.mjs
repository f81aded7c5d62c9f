import { dateTime, table, visible } from '../print.mjs';
import { WORKSPACE_FLAG } from './flags.mjs';

/** @type {import('../commands.mjs').Command[]} */
export const IDENTITY_COMMANDS = [
  {
    name: 'identity create',
    sentence: 'Adds a domain or an address that a workspace may send from, or verifies an existing one.',
    flags: {
      workspace: WORKSPACE_FLAG,
      domain: { value: 'DOMAIN', sentence: 'every address at this domain' },
      address: { value: 'ADDRESS', sentence: 'this address alone' },
      verified: { sentence: 'you vouch for it: it may be sent from at once' },
    },
    exactlyOne: ['domain', 'address'],
    example: 'identity create --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41 --domain example.com --verified',
    run: createIdentity,
    show: (identity, given) => {
      const what = `${identity.id}: the ${identity.kind} ${visible(identity.value)}`;
      if (identity.verifiedAt !== null) return `Verified ${what} may be sent from.`;
      return `Added ${what}, not verified: nothing can be sent from it yet.\n${vouchFor(identity, given)}`;
    },
  },
  {
    name: 'identity list',
    sentence: 'Lists what a workspace may send from, and what is still to be verified.',
    flags: { workspace: WORKSPACE_FLAG },
    example: 'identity list --workspace wrk_01h2xcejqtf2nbrexx3vqjhp41',
    run: async ({ useCases, workspaces, identities }, { workspace }) => {
      const { id } = await useCases.requireWorkspace(workspaces, workspace);
      return identities.list(id);
    },
    show: (identities, { workspace }) =>
      table(
        identities,
        {
          'ID': ({ id }) => id,
          'KIND': ({ kind }) => kind,
          'VALUE': ({ value }) => value,
          'VERIFIED (UTC)': ({ verifiedAt }) => (verifiedAt === null ? 'no' : dateTime(verifiedAt)),
        },
        `It has none yet; add one: identity create --workspace ${workspace} --domain DOMAIN`,
      ),
  },
];

/** @param {import('../command-context.mjs').CommandContext} context @param {import('../commands.mjs').Given} given */
async function createIdentity({ useCases, workspaces, deletion, identities, actor }, given) {
  const { workspace, domain, address, verified = false } = given;
  const { id } = await useCases.requireOpenWorkspace(workspaces, deletion, workspace);
  const value = domain === undefined ? { address } : { domain };
  return useCases.addIdentity(identities, id, actor, { ...value, verified });
}

/** @param {import('@posthorn/database').Identity} identity @param {import('../commands.mjs').Given} given */
function vouchFor({ kind, value }, { workspace }) {
  return `If you vouch for it: identity create --workspace ${workspace} --${kind} ${visible(value)} --verified`;
}
