/** Both sides in turn, in slices so short that whatever else the machine does slows both alike. */
const GROUPS_A_SLICE = 10;
const SIDES = /** @type {const} */ (['bare', 'ours']);

/** @typedef {{ ratio: number, ours: number, bare: number }} StoreRound emails a second */

/**
 * Measures how many emails the database takes, in groups as large as those of batches, without a gateway before it; beside three bare
 * INSERTs a group into the same tables. What a gateway accepts cannot be more.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<StoreRound[]>}
 */
export async function measureStore(ground, { rounds, emails, onRound }) {
  await ground.sweep();
  const writer = await ground.startHelper(new URL('./store-process.mjs', import.meta.url));
  const { id: workspaceId } = /** @type {import('./ground.mjs').BenchWorkspace} */ (ground.workspaces[0]);
  const groupSize = await writer.ask('open', { databaseUrl: ground.databaseUrl, workspaceId });
  // For the compiler.
  await measureRound(writer, GROUPS_A_SLICE * groupSize, groupSize);
  const results = [];
  for (let round = 1; round <= rounds; round += 1) {
    const { ratio, ours, bare } = await measureRound(writer, emails, groupSize);
    results.push({ ratio, ours, bare });
    onRound(`round ${round}: ${Math.round(ours)}/s to ${Math.round(bare)}/s = ${ratio.toFixed(2)}`);
  }
  await writer.stop();
  return results;
}

/** @param {import('./helper.mjs').Helper} writer @param {number} emails @param {number} groupSize @returns {Promise<StoreRound>} */
async function measureRound(writer, emails, groupSize) {
  const ms = { bare: 0, ours: 0 };
  const slices = Math.max(1, Math.round(emails / (GROUPS_A_SLICE * groupSize)));
  for (let slice = 0; slice < slices; slice += 1) {
    for (const side of SIDES) ms[side] += await writer.ask(side, { groups: GROUPS_A_SLICE });
  }
  const perSecond = (side) => (slices * GROUPS_A_SLICE * groupSize * 1_000) / ms[side];
  return { ratio: ms.bare / ms.ours, ours: perSecond('ours'), bare: perSecond('bare') };
}
