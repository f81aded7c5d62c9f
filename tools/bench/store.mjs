import { measureAgainst } from './compare.mjs';

const GROUPS_PER_SLICE = 10;

/** @typedef {{ ratio: number, ours: number, bare: number }} StoreRound emails per second */

/**
 * Measures how many emails per second can be stored without a gateway, in groups as large as those of batches, against three bare INSERTs
 * per group into the same tables. It is an upper bound for what a gateway can accept.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<StoreRound[]>}
 */
export async function measureStore(environment, { emails, ...rest }) {
  await environment.reset();
  const writer = await environment.startBenchProcess(new URL('./store-process.mjs', import.meta.url));
  const { id: workspaceId } = /** @type {import('./environment.mjs').BenchWorkspace} */ (
    environment.workspaces[0]
  );
  const groupSize = await writer.ask('open', { databaseUrl: environment.databaseUrl, workspaceId });
  const slice = GROUPS_PER_SLICE * groupSize;
  const results = await measureAgainst(writer, 'bare', { ...rest, warmUp: slice, count: emails, slice });
  await writer.stop();
  return results;
}
