import { mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { startServer, stopProcess } from './processes.mjs';
import { redisBinary } from './redis-binary.mjs';

const START_WITHIN_MS = 120_000;

/** One that has only just been started may not answer at all; then it is asked again. */
const ASKED_AGAIN_AFTER_MS = 2_000;

/**
 * A Redis server of our own, listening on 127.0.0.1 only. It never evicts, because an evicted job is a lost ring.
 *
 * @param {object} options
 * @param {string} options.directory for its data; made when missing
 * @param {number} options.port
 * @param {boolean} [options.durable] whether its data survives a restart
 * @param {string} [options.logFile] default: `redis.log` in the directory
 * @param {Record<string, string>} [options.settings] further settings, as in `redis.conf`
 * @param {AbortSignal} [options.signal] as of `startServer`
 */
export async function startRedis({
  directory,
  port,
  durable = false,
  logFile = join(directory, 'redis.log'),
  settings = {},
  signal,
}) {
  mkdirSync(directory, { recursive: true });
  const network = ['--port', String(port), '--bind', '127.0.0.1', '--maxmemory-policy', 'noeviction'];
  const storage = ['--dir', directory, '--save', '', '--appendonly', durable ? 'yes' : 'no'];
  const more = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  const child = await startServer({
    name: 'Redis',
    command: await redisBinary(),
    args: [...network, ...storage, ...more],
    logFile,
    isUp: () => answersPing(port),
    withinMs: START_WITHIN_MS,
    signal,
  });
  return {
    child,
    port,
    url: `redis://127.0.0.1:${port}`,
    stop: () => stopProcess(child),
  };
}

/** @param {number} port */
async function answersPing(port) {
  try {
    return (await askRedis(port, 'PING', { withinMs: ASKED_AGAIN_AFTER_MS })).startsWith('+PONG');
  } catch {
    return false;
  }
}

/**
 * Sends one inline command and returns the first chunk of the raw answer; enough for short ones.
 *
 * @public used by libs/testing
 * @param {number} port on 127.0.0.1
 * @param {string} command
 * @param {{ withinMs?: number }} [limit]
 * @returns {Promise<string>}
 */
export function askRedis(port, command, { withinMs = 60_000 } = {}) {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${command}\r\n`));
    const settle = (done, value) => {
      socket.destroy();
      done(value);
    };
    socket.setTimeout(withinMs, () => settle(reject, new Error(`Redis did not answer ${command}`)));
    socket.once('error', (error) => settle(reject, error));
    socket.once('end', () => settle(reject, new Error('Redis hung up')));
    socket.once('data', (answer) => settle(resolve, answer.toString()));
  });
}

/**
 * Whether a server listens at a URL of Redis. It is asked nothing: the apps report what is wrong with it.
 *
 * @param {string} url
 */
export async function isRedisAt(url) {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(
      Number(port || 6379),
      hostname.replace(/^\[(.*)\]$/, '$1') || '127.0.0.1',
      () => socket.destroy() && resolve(true),
    );
    socket.setTimeout(3_000, () => socket.destroy() && resolve(false));
    socket.once('error', () => resolve(false));
  });
}
