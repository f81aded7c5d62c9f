import { join } from 'node:path';
import { explain } from '../posthorn/explain.mjs';
import { keepRunning } from './keep-running.mjs';
import { isHealthy, startServer, stopProcess } from './processes.mjs';
import { ensureDatabase, query, startPostgres } from './postgres.mjs';
import { isRedisAt, startRedis } from './redis.mjs';
import { nodeBinary } from './runtime.mjs';
import { newLogFile, STATE_FOLDER } from './state.mjs';

/** @typedef {{ url: string, webUrl?: string, isOurs: boolean, stop: () => Promise<unknown> }} Service */

const CHECKED_EVERY_MS = 5_000;

/** Somebody waits to be told that a database of the settings does not answer. */
const CONNECTED_WITHIN_MS = 10_000;

const notOurs = () => Promise.resolve();

/** The database of the settings, or else our own. @returns {Promise<Service>} */
export async function providePostgres({ DATABASE_URL }, port) {
  if (DATABASE_URL !== undefined) {
    const where = `DATABASE_URL (${hideLogin(urlOf('DATABASE_URL', DATABASE_URL))})`;
    try {
      await query(DATABASE_URL, 'SELECT 1', [], { connectedWithinMs: CONNECTED_WITHIN_MS });
    } catch (error) {
      throw new Error(`There is no Postgres to be used at ${where}. ${explain(error)}.`, { cause: error });
    }
    return { url: DATABASE_URL, isOurs: false, stop: notOurs };
  }
  const logFile = newLogFile('postgres');
  const directory = join(STATE_FOLDER, 'postgres');
  const settings = { autovacuum_naptime: '5s' };
  const { server, stop } = await keepServerRunning({
    name: 'Postgres',
    logFile,
    ports: [port],
    start: async (signal) => {
      const postgres = await startPostgres({ directory, port, settings, logFile, signal });
      shutDownFastOnSigterm(postgres);
      return postgres;
    },
  });
  await ensureDatabase(server.url(), 'posthorn');
  return { url: server.url('posthorn'), isOurs: true, stop };
}

/**
 * After a SIGTERM from somebody else, Postgres accepts no connections and waits until all clients have disconnected, which the apps never do.
 * Then SIGINT makes it shut down at once (fast shutdown), so that it can be restarted.
 *
 * @param {Awaited<ReturnType<typeof startPostgres>>} postgres
 */
function shutDownFastOnSigterm({ child, url }) {
  const check = () =>
    void query(url(), 'SELECT 1').catch(({ message }) => {
      if (message.includes('is shutting down')) child.kill('SIGINT');
    });
  const checking = setInterval(check, CHECKED_EVERY_MS).unref();
  child.once('exit', () => clearInterval(checking));
}

/** The Redis of the settings, or else our own. @returns {Promise<Service>} */
export async function provideRedis({ REDIS_URL }, port) {
  if (REDIS_URL !== undefined) {
    if (!(await isRedisAt(urlOf('REDIS_URL', REDIS_URL))))
      throw new Error(`No Redis answers at REDIS_URL (${hideLogin(REDIS_URL)}).`);
    return { url: REDIS_URL, isOurs: false, stop: notOurs };
  }
  const logFile = newLogFile('redis');
  const directory = join(STATE_FOLDER, 'redis');
  const { server, stop } = await keepServerRunning({
    name: 'Redis',
    logFile,
    ports: [port],
    start: (signal) => startRedis({ directory, port, durable: true, logFile, signal }),
  });
  return { url: server.url, isOurs: true, stop };
}

/**
 * The inbox. It runs even if another relay is configured, so that `inbox` in stack.json is always valid.
 *
 * @param {{ smtp: number, web: number, returnedTo?: number | string }} ports returnedTo: where reports about mails are received; default: nowhere
 * @param {{ directory: string, logFile: string }} [files] where mails and its log are stored
 * @returns {Promise<Service>}
 */
export async function provideInbox(
  { smtp, web, returnedTo },
  { directory, logFile } = { directory: join(STATE_FOLDER, 'inbox'), logFile: newLogFile('inbox') },
) {
  const webUrl = `http://127.0.0.1:${web}`;
  const { stop } = await keepServerRunning({
    name: 'The inbox',
    logFile,
    ports: [smtp, web],
    start: (signal) => startInbox({ smtp, webUrl, web, returnedTo, directory, logFile, signal }),
  });
  return { url: `smtp://127.0.0.1:${smtp}`, webUrl, isOurs: true, stop };
}

async function startInbox({ smtp, web, webUrl, returnedTo, directory, logFile, signal }) {
  const where = ['--smtp-port', `${smtp}`, '--http-port', `${web}`, '--directory', directory];
  const returning = returnedTo === undefined ? [] : ['--returned-to', `${returnedTo}`];
  const args = ['tools/inbox/main.mjs', ...where, ...returning];
  const child = await startServer({
    name: 'The inbox',
    command: nodeBinary(),
    args,
    logFile,
    isUp: () => isHealthy(`${webUrl}/health`),
    withinMs: 60_000,
    signal,
  });
  return { child, stop: () => stopProcess(child, { withinMs: 1_000 }) };
}

/**
 * Starts a server of ours, and restarts it whenever it ends.
 *
 * @template {{ child: import('node:child_process').ChildProcess, stop: () => Promise<unknown> }} Server
 * @param {{ name: string, logFile: string, ports: number[], start: (signal: AbortSignal) => Promise<Server> }} options
 * @returns {Promise<{ server: Server, stop: () => Promise<unknown> }>} `server`: the first one; `stop` stops the current one, and does not wait for one that is still being started
 */
async function keepServerRunning({ start, ...program }) {
  const stopping = new AbortController();
  /** @type {Promise<Server> | undefined} */
  let latestStart;
  const startOne = async () => (await (latestStart = start(stopping.signal))).child;
  await keepRunning({ ...program, start: startOne, signal: stopping.signal });
  const stop = async () => {
    stopping.abort();
    const server = await latestStart?.catch(() => undefined);
    await server?.stop();
  };
  return { server: await /** @type {Promise<Server>} */ (/** @type {unknown} */ (latestStart)), stop };
}

/** @param {string} setting @param {string} value @returns {string} the same @throws when it is no URL, or its password has torn it apart */
function urlOf(setting, value) {
  // A `/` or `#` in a password ends the host: another one would be looked for, and the password shown as what follows it.
  const isTornApart = ({ pathname, hash }) => (pathname + hash).includes('@');
  if (URL.canParse(value) && !isTornApart(new URL(value))) return value;
  throw new Error(
    `${setting} is not a URL, or its user or password is not percent-encoded: write it as .env.example does.`,
  );
}

/** The URL without user name and password. @param {string} url */
export function hideLogin(url) {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
