import { emailRequest, loadForTime } from './http-load.mjs';
import { median, quantile } from './numbers.mjs';
import { sentMail } from './sent-mail.mjs';

const CONCURRENCIES = [1, 32, 128];
/** Long enough for the compiler of both sides. */
const FIRST_WARM_UP_MS = 2_000;

/**
 * @typedef {object} AcceptRound
 * @property {number} ratio
 * @property {Pace} gateway
 * @property {Pace} echo
 * @property {number} statementsPerEmail
 */
/** @typedef {{ perSecond: number, medianMs: number, p99Ms: number }} Pace */

/**
 * Measures accepting beside an Express echo of the same body. No sender runs, so all that is accepted piles up.
 *
 * @param {import('./ground.mjs').Ground} ground
 * @param {{ rounds: number, warmMs: number, measureMs: number, onRound: (text: string) => void }} options
 * @returns {Promise<Map<number, AcceptRound[]>>} by how many at once
 */
export async function measureAccept(ground, { rounds, warmMs, measureMs, onRound }) {
  await ground.sweep();
  const gateway = await ground.startApp('gateway');
  const echo = await ground.startHelper(new URL('./echo-process.mjs', import.meta.url));
  const requestTo = (port) => emailRequest(port, ground.workspaces[0]?.key ?? '', sentMail('a@example.net'));
  const ports = { gateway: gateway.port, echo: await echo.ask('listen') };
  const paceOf = (port, connections, times) =>
    loadForTime({ port, connections, request: requestTo(port), ...times });
  for (const port of Object.values(ports))
    await paceOf(port, 32, { warmMs: FIRST_WARM_UP_MS, measureMs: 100 });

  const results = new Map(
    CONCURRENCIES.map((connections) => [connections, /** @type {AcceptRound[]} */ ([])]),
  );
  for (let round = 1; round <= rounds; round += 1) {
    for (const connections of CONCURRENCIES) {
      const times = { warmMs, measureMs };
      const bare = paced(await paceOf(ports.echo, connections, times));
      await ground.query('SELECT pg_stat_statements_reset()');
      const loaded = await paceOf(ports.gateway, connections, times);
      const statementsPerEmail = (await countStatements(ground)) / loaded.answers;
      const ours = paced(loaded);
      const ratio = ours.perSecond / bare.perSecond;
      results.get(connections)?.push({ ratio, gateway: ours, echo: bare, statementsPerEmail });
      onRound(
        `round ${round}, ${connections} at once: ${Math.round(ours.perSecond)}/s to ${Math.round(bare.perSecond)}/s = ${ratio.toFixed(2)}`,
      );
    }
  }
  await Promise.all([gateway.stop(), echo.stop()]);
  return results;
}

function paced({ perSecond, latencies }) {
  return { perSecond, medianMs: median(latencies), p99Ms: quantile(latencies, 0.99) };
}

/** All that the server was told since the last reset, BEGIN and COMMIT too, but for the resetting itself. */
async function countStatements(ground) {
  const [row] = await ground.query(
    "SELECT sum(calls)::int AS calls FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'",
  );
  return Number(row?.calls ?? 0);
}
