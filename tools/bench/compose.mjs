import { measureAgainst } from './compare.mjs';
import { startBenchProcess } from './bench-process.mjs';

const SLICE = 500;

/** @typedef {{ ratio: number, ours: number, mailer: number }} ComposeRound messages a second */

/**
 * Measures how many messages one core composes, unsigned, compared with nodemailer's MailComposer for the same mail.
 *
 * @param {{ rounds: number, messages: number, onRound: (text: string) => void }} options
 * @returns {Promise<ComposeRound[]>}
 */
export async function measureCompose({ messages, ...rest }) {
  const composer = await startBenchProcess(new URL('./compose-process.mjs', import.meta.url));
  try {
    const options = { ...rest, warmUp: SLICE * 4, count: messages, slice: SLICE };
    return await measureAgainst(composer, 'mailer', options);
  } finally {
    await composer.stop();
  }
}
