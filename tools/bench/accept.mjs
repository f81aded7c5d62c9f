import { ACCEPT_LOADS, NUMBER, SERIAL, shippedTemplate } from './accept-loads.mjs';
import { emailRequest, jsonRequest, loadForTime, post } from './http-load.mjs';
import { latencyOf } from './numbers.mjs';
import { sampleEmail } from './sample-email.mjs';

/** Long enough for the JIT compilers of both sides. */
const FIRST_WARM_UP_MS = 4_000;

/** @typedef {{ perSecond: number } & import('./numbers.mjs').Latency} Pace emails/s */
/**
 * @typedef {object} AcceptRound
 * @property {number} ratio
 * @property {Pace} gateway
 * @property {Pace} echo
 * @property {number} statementsPerEmail
 */

/**
 * Measures accepting against an Express server that echoes the same email. No sender runs, so accepted emails accumulate.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @param {{ rounds: number, warmMs: number, measureMs: number, onRound: (text: string) => void }} options
 * @returns {Promise<Map<string, AcceptRound[]>>} by the load's id
 */
export async function measureAccept(environment, { rounds, warmMs, measureMs, onRound }) {
  await environment.reset();
  const { key, editorKey } = /** @type {import('./environment.mjs').BenchWorkspace} */ (
    environment.workspaces[0]
  );
  const gateway = await environment.startApp('gateway');
  const echo = await environment.startBenchProcess(new URL('./echo-process.mjs', import.meta.url));
  const echoPort = await echo.ask('listen');
  await post(gateway.port, editorKey, '/v1/templates', shippedTemplate());

  const echoed = emailRequest(echoPort, key, sampleEmail('ada-1@example.net'));
  const echoPace = (connections, times) =>
    loadForTime({ port: echoPort, connections, next: () => echoed, ...times });
  let sent = 0;
  const gatewayPace = ({ path, connections, body, numbers = Infinity }, times) => {
    const numbered = numberedRequest(jsonRequest(gateway.port, key, path, body), numbers);
    const next = () => numbered((sent += 1));
    return loadForTime({ port: gateway.port, connections, next, ...times });
  };

  const warmUp = { warmMs: FIRST_WARM_UP_MS, measureMs: 100 };
  await echoPace(32, warmUp);
  for (const load of ACCEPT_LOADS) await gatewayPace(load, warmUp);

  const results = new Map(ACCEPT_LOADS.map(({ id }) => [id, /** @type {AcceptRound[]} */ ([])]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const load of ACCEPT_LOADS) {
      const times = { warmMs, measureMs };
      const bare = toPace(await echoPace(load.echoConnections, times), 1);
      await environment.query('SELECT pg_stat_statements_reset()');
      const loaded = await gatewayPace(load, times);
      const statementsPerEmail = (await environment.countStatements()) / (loaded.answers * load.emails);
      const ours = toPace(loaded, load.emails);
      const ratio = ours.perSecond / bare.perSecond;
      results.get(load.id)?.push({ ratio, gateway: ours, echo: bare, statementsPerEmail });
      onRound(
        `round ${round}, ${load.id}: ${Math.round(ours.perSecond)}/s to ${Math.round(bare.perSecond)}/s = ${ratio.toFixed(2)}`,
      );
    }
  }
  await Promise.all([gateway.stop(), echo.stop()]);
  return results;
}

/**
 * Returns copies of a request, each with its number in place of SERIAL and NUMBER: building each request would cost as much as accepting
 * it.
 */
function numberedRequest(request, numbers) {
  const [serialOffsets, numberOffsets] = [offsetsOf(SERIAL, request), offsetsOf(NUMBER, request)];
  return (n) => {
    const copy = Buffer.from(request);
    for (const offset of serialOffsets) copy.write(digits(n), offset, 'latin1');
    for (const offset of numberOffsets) copy.write(digits(n % numbers), offset, 'latin1');
    return copy;
  };
}

function offsetsOf(placeholder, request) {
  const offsets = [];
  for (let at = request.indexOf(placeholder); at >= 0; at = request.indexOf(placeholder, at + 1))
    offsets.push(at);
  return offsets;
}

function digits(n) {
  return String(n).padStart(NUMBER.length, '0');
}

function toPace({ perSecond, latencies }, emails) {
  return { perSecond: perSecond * emails, ...latencyOf(latencies) };
}
