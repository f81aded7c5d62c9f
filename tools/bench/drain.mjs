import { waitUntil } from '../stack/processes.mjs';
import { emailRequest, load } from './http-load.mjs';
import { sampleEmail } from './sample-email.mjs';

const FILL_CONNECTIONS = 128;
const DRAIN_WITHIN_MS = 90_000;
const RECORDED_WITHIN_MS = 10_000;
/** The default of SMTP_CONNECTIONS. */
const DEFAULT_CONNECTIONS = 20;

/**
 * The measurements by the id of their goal: the algorithms of the keys that each email is signed with.
 *
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const SIGNED_WITH = { 'drain': [], 'drain-rsa': ['rsa'], 'drain-both': ['rsa', 'ed25519'] };

/** @typedef {{ ratio: number, sender: number, loop: number }} DrainRound emails/s that arrive */

/**
 * Measures how fast due emails are sent, unsigned and signed, against a bare nodemailer loop with the same emails, connections and sink that
 * signs nothing.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, emails: number, onRound: (text: string) => void }} options
 * @returns {Promise<Map<string, DrainRound[]>>} by the id of the goal
 */
export async function measureDrain(environment, { rounds, emails, onRound }) {
  const gateway = await environment.startApp('gateway');
  /** @type {Map<string, DrainRound[]>} */
  const results = new Map(Object.keys(SIGNED_WITH).map((id) => [id, []]));
  for (let round = 1; round <= rounds; round += 1) {
    const loop = await loopPace(environment, emails);
    for (const [id, algorithms] of Object.entries(SIGNED_WITH)) {
      await environment.reset();
      await environment.signWith(algorithms);
      await fill(environment, gateway.port, emails);
      const sender = await drainPace(environment, emails, algorithms.length);
      const ratio = sender / loop;
      results.get(id)?.push({ ratio, sender, loop });
      onRound(
        `round ${round}, ${id}: ${Math.round(sender)}/s to ${Math.round(loop)}/s = ${ratio.toFixed(2)}`,
      );
    }
  }
  await environment.signWith([]);
  await gateway.stop();
  return results;
}

/** Has this many emails of the first workspace accepted, each for a different recipient. */
export async function fill(environment, port, emails) {
  let sent = 0;
  const next = () => {
    if (sent === emails) return undefined;
    sent += 1;
    return emailRequest(port, environment.workspaces[0].key, sampleEmail(`drain-${sent}@example.net`));
  };
  await load({ port, connections: FILL_CONNECTIONS, next });
}

/** How many emails per second a bare nodemailer loop delivers. */
export async function loopPace(environment, count) {
  await environment.sink.ask('reset');
  const loop = await environment.startBenchProcess(new URL('./mail-loop-process.mjs', import.meta.url));
  const connections = Number(process.env.SMTP_CONNECTIONS ?? DEFAULT_CONNECTIONS);
  await loop.ask('send', { port: environment.sinkPort, count, connections });
  await loop.stop();
  return paceAtSink(environment, count, 0);
}

/** How many due emails are delivered per second, once a sender and a scheduler have started. */
export async function drainPace(environment, count, signatures) {
  const apps = await Promise.all([environment.startApp('sender'), environment.startApp('scheduler')]);
  await untilDrained(environment, count, DRAIN_WITHIN_MS);
  await Promise.all(apps.map((app) => app.stop()));
  return paceAtSink(environment, count, signatures);
}

/** Waits until this many emails have arrived at the sink and no due work is left. @throws with what is left when that takes too long */
export async function untilDrained(environment, count, withinMs) {
  const isThere = async () => (await environment.sink.ask('count')) >= count;
  const isRecorded = async () => (await unfinished(environment)) === '';
  try {
    await waitUntil(isThere, { withinMs, what: `Draining ${count} emails` });
    await waitUntil(isRecorded, { withinMs: RECORDED_WITHIN_MS, what: 'Recording what was sent' });
  } catch (error) {
    const arrived = await environment.sink.ask('count');
    throw new Error(`${error.message}; ${arrived} arrived, left: ${await unfinished(environment)}`);
  }
}

/** Describes the due work left in the outbox; empty when everything is recorded. */
async function unfinished(environment) {
  const rows = await environment.query(
    "SELECT state, attempts, count(*)::int AS emails FROM outbox WHERE due_at < now() + interval '1 day' GROUP BY 1, 2 ORDER BY 1, 2",
  );
  return rows
    .map(({ state, attempts, emails }) => `${emails} ${state} after ${attempts} attempts`)
    .join(', ');
}

/**
 * How many emails per second have arrived at the sink after the warm-up.
 *
 * @throws when not every recipient got exactly one, with this number of signatures: a fast result that is wrong does not count
 */
export async function paceAtSink(environment, emails, signatures) {
  const { count, recipients, signed, perSecond } = await environment.sink.ask('report');
  if (count !== emails || recipients !== emails)
    throw new Error(`${count} mails for ${recipients} recipients arrived instead of ${emails}, one for each`);
  if (signed !== emails * signatures) throw new Error(`${count} mails arrived with ${signed} signatures`);
  return perSecond;
}
