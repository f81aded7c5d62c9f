import { waitUntil } from '../stack/processes.mjs';
import { emailRequest, load } from './http-load.mjs';
import { sentMail } from './sent-mail.mjs';

const FILL_CONNECTIONS = 128;
const DRAIN_WITHIN_MS = 90_000;
const RECORDED_WITHIN_MS = 10_000;
/** The default of SMTP_CONNECTIONS. */
const DEFAULT_CONNECTIONS = 20;

/** The share of the mails that warms up both sides. */
const WARM_UP_SHARE = 0.25;

/**
 * The measurements by the id of their goal: the algorithms of the keys that each email is signed with.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const SIGNED_WITH = { 'drain': [], 'drain-rsa': ['rsa'], 'drain-both': ['rsa', 'ed25519'] };

/** @typedef {{ ratio: number, sender: number, loop: number }} DrainRound emails/s that arrive */

/**
 * Measures how soon what is due has left, unsigned and signed, beside a bare nodemailer loop with the same mails, connections and sink, which
 * signs nothing.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<Map<string, DrainRound[]>>} by the id of the goal
 */
export async function measureDrain(ground, { rounds, emails, onRound }) {
  const gateway = await ground.startApp('gateway');
  /** @type {Map<string, DrainRound[]>} */
  const results = new Map(Object.keys(SIGNED_WITH).map((id) => [id, []]));
  for (let round = 1; round <= rounds; round += 1) {
    const loop = await loopPace(ground, emails);
    for (const [id, algorithms] of Object.entries(SIGNED_WITH)) {
      await ground.sweep();
      await ground.signWith(algorithms);
      await fill(ground, gateway.port, emails);
      const sender = await drainPace(ground, emails, algorithms.length);
      const ratio = sender / loop;
      results.get(id)?.push({ ratio, sender, loop });
      onRound(
        `round ${round}, ${id}: ${Math.round(sender)}/s to ${Math.round(loop)}/s = ${ratio.toFixed(2)}`,
      );
    }
  }
  await ground.signWith([]);
  await gateway.stop();
  return results;
}

/** Has this many emails of the first workspace accepted, each for a different recipient. */
export async function fill(ground, port, emails) {
  let begun = 0;
  const next = () => {
    if (begun === emails) return undefined;
    begun += 1;
    return emailRequest(port, ground.workspaces[0].key, sentMail(`drain-${begun}@example.net`));
  };
  await load({ port, connections: FILL_CONNECTIONS, next });
}

/** How many mails a second a bare nodemailer loop delivers. */
export async function loopPace(ground, count) {
  await ground.sink.ask('reset');
  const loop = await ground.startHelper(new URL('./mail-loop-process.mjs', import.meta.url));
  const connections = Number(process.env.SMTP_CONNECTIONS ?? DEFAULT_CONNECTIONS);
  await loop.ask('send', { port: ground.sinkPort, count, connections });
  await loop.stop();
  return paceAtSink(ground, count, 0);
}

/** How many due emails are delivered per second, once a sender and a scheduler have started. */
export async function drainPace(ground, count, signatures) {
  const apps = await Promise.all([ground.startApp('sender'), ground.startApp('scheduler')]);
  await untilDrained(ground, count, DRAIN_WITHIN_MS);
  await Promise.all(apps.map((app) => app.stop()));
  return paceAtSink(ground, count, signatures);
}

/** Waits until this many emails have arrived at the sink and no due work is left. @throws with what is left when that takes too long */
export async function untilDrained(ground, count, withinMs) {
  const isThere = async () => (await ground.sink.ask('count')) >= count;
  const isRecorded = async () => (await unfinished(ground)) === '';
  try {
    await waitUntil(isThere, { withinMs, what: `Draining ${count} emails` });
    await waitUntil(isRecorded, { withinMs: RECORDED_WITHIN_MS, what: 'Recording what was sent' });
  } catch (error) {
    const arrived = await ground.sink.ask('count');
    throw new Error(`${error.message}; ${arrived} arrived, left: ${await unfinished(ground)}`);
  }
}

/** Describes the due work left in the outbox; empty when everything is recorded. */
async function unfinished(ground) {
  const rows = await ground.query(
    "SELECT state, attempts, count(*)::int AS emails FROM outbox WHERE due_at < now() + interval '1 day' GROUP BY 1, 2 ORDER BY 1, 2",
  );
  return rows
    .map(({ state, attempts, emails }) => `${emails} ${state} after ${attempts} attempts`)
    .join(', ');
}

/**
 * How many mails a second have arrived at the sink, after the warm-up.
 *
 * @throws when not every recipient got exactly one, or with another number of signatures: a quick wrong answer is none
 */
export async function paceAtSink(ground, emails, signatures) {
  const warmUp = Math.floor(emails * WARM_UP_SHARE);
  const { count, recipients, signed, ms } = await ground.sink.ask('report', { warmUp });
  if (count !== emails || recipients !== emails)
    throw new Error(`${count} mails for ${recipients} recipients arrived instead of ${emails}, one for each`);
  if (signed !== emails * signatures) throw new Error(`${count} mails arrived with ${signed} signatures`);
  return ((emails - 1 - warmUp) / ms) * 1_000;
}
