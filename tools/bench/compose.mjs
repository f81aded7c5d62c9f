import { startHelper } from './helper.mjs';

/** Both sides in turn, in slices so short that whatever else the machine does slows both alike. */
const SLICE = 500;
const SIDES = /** @type {const} */ (['mailer', 'ours']);

/** @typedef {{ ratio: number, ours: number, mailer: number }} ComposeRound messages a second */

/**
 * Measures how many messages one core composes, unsigned, beside nodemailer's MailComposer with the same mail.
 *
 * @param {{ rounds: number, messages: number, onRound: (text: string) => void }} options
 * @returns {Promise<ComposeRound[]>}
 */
export async function measureCompose({ rounds, messages, onRound }) {
  const composer = await startHelper(new URL('./compose-process.mjs', import.meta.url));
  try {
    // For the compiler.
    await measureRound(composer, SLICE * 4);
    const results = [];
    for (let round = 1; round <= rounds; round += 1) {
      const result = await measureRound(composer, messages);
      results.push(result);
      const { ours, mailer, ratio } = result;
      onRound(`round ${round}: ${Math.round(ours)}/s to ${Math.round(mailer)}/s = ${ratio.toFixed(2)}`);
    }
    return results;
  } finally {
    await composer.stop();
  }
}

/** @param {import('./helper.mjs').Helper} composer @param {number} messages @returns {Promise<ComposeRound>} */
async function measureRound(composer, messages) {
  const ms = { mailer: 0, ours: 0 };
  const slices = Math.max(1, Math.round(messages / SLICE));
  for (let slice = 0; slice < slices; slice += 1) {
    for (const side of SIDES) ms[side] += await composer.ask(side, { count: SLICE });
  }
  const perSecond = (side) => (slices * SLICE * 1_000) / ms[side];
  return { ratio: ms.mailer / ms.ours, ours: perSecond('ours'), mailer: perSecond('mailer') };
}
