import { measureBeside } from './beside.mjs';

const GROUPS_A_SLICE = 10;

/** @typedef {{ ratio: number, ours: number, bare: number }} StoreRound emails a second */

/**
 * Measures how many emails the database takes, in groups as large as those of batches, without a gateway before it; beside three bare
 * INSERTs a group into the same tables. What a gateway accepts cannot be more.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<StoreRound[]>}
 */
export async function measureStore(ground, { emails, ...rest }) {
  await ground.sweep();
  const writer = await ground.startHelper(new URL('./store-process.mjs', import.meta.url));
  const { id: workspaceId } = /** @type {import('./ground.mjs').BenchWorkspace} */ (ground.workspaces[0]);
  const groupSize = await writer.ask('open', { databaseUrl: ground.databaseUrl, workspaceId });
  const slice = GROUPS_A_SLICE * groupSize;
  const results = await measureBeside(writer, 'bare', { ...rest, warmUp: slice, count: emails, slice });
  await writer.stop();
  return results;
}
