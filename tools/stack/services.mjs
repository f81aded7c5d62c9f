import { join } from 'node:path';
import { explain } from '../posthorn/explain.mjs';
import { isHealthy, hasEnded, leash, startProcess, stopProcess, tail, waitUntil } from './processes.mjs';
import { ensureDatabase, query, startPostgres } from './postgres.mjs';
import { isRedisAt, startRedis } from './redis.mjs';
import { nodeBinary } from './runtime.mjs';
import { newLogFile, STATE_FOLDER } from './state.mjs';

/** @typedef {{ url: string, webUrl?: string, isOurs: boolean, stop: () => Promise<unknown> }} Service */

const notOurs = () => Promise.resolve();

/** The database of the settings, else our own. @returns {Promise<Service>} */
export async function providePostgres({ DATABASE_URL }, port) {
  if (DATABASE_URL !== undefined) {
    const where = `DATABASE_URL (${hideLogin(urlOf('DATABASE_URL', DATABASE_URL))})`;
    try {
      await query(DATABASE_URL, 'SELECT 1');
    } catch (error) {
      throw new Error(`There is no Postgres to be used at ${where}. ${explain(error)}.`, { cause: error });
    }
    return { url: DATABASE_URL, isOurs: false, stop: notOurs };
  }
  const postgres = await startPostgres({
    directory: join(STATE_FOLDER, 'postgres'),
    port,
    settings: { autovacuum_naptime: '5s' },
    leashed: true,
  });
  await ensureDatabase(postgres.url(), 'posthorn');
  return { url: postgres.url('posthorn'), isOurs: true, stop: postgres.stop };
}

/** The Redis of the settings, else our own. @returns {Promise<Service>} */
export async function provideRedis({ REDIS_URL }, port) {
  if (REDIS_URL !== undefined) {
    if (!(await isRedisAt(urlOf('REDIS_URL', REDIS_URL))))
      throw new Error(`No Redis answers at REDIS_URL (${hideLogin(REDIS_URL)}).`);
    return { url: REDIS_URL, isOurs: false, stop: notOurs };
  }
  const redis = await startRedis({
    directory: join(STATE_FOLDER, 'redis'),
    port,
    durable: true,
    leashed: true,
  });
  return { url: redis.url, isOurs: true, stop: redis.stop };
}

/**
 * The inbox. It runs even where another relay is set, so that `inbox` in stack.json is always true.
 *
 * @param {{ smtp: number, web: number }} ports
 * @param {{ directory: string, logFile: string }} [files] where it keeps mails, and what it says
 * @returns {Promise<Service>}
 */
export async function provideInbox(
  { smtp, web },
  { directory, logFile } = { directory: join(STATE_FOLDER, 'inbox'), logFile: newLogFile('inbox') },
) {
  const where = ['--smtp-port', `${smtp}`, '--http-port', `${web}`, '--directory', directory];
  const child = await startProcess({
    command: nodeBinary(),
    args: ['tools/inbox/main.mjs', ...where],
    logFile,
  });
  const unleash = leash(/** @type {number} */ (child.pid));
  const webUrl = `http://127.0.0.1:${web}`;
  const isUp = () => {
    if (hasEnded(child)) throw new Error(`The inbox did not start:\n${tail(logFile)}`);
    return isHealthy(`${webUrl}/health`);
  };
  await waitUntil(isUp, { withinMs: 15_000, what: 'The inbox' });
  const stop = async () => {
    unleash();
    await stopProcess(child, { withinMs: 1_000 });
  };
  return { url: `smtp://127.0.0.1:${smtp}`, webUrl, isOurs: true, stop };
}

/** @param {string} setting @param {string} value @returns {string} the same @throws when it is no URL */
function urlOf(setting, value) {
  if (URL.canParse(value)) return value;
  throw new Error(`${setting} is no URL: write it as .env.example does.`);
}

/** An address without its name and password. @param {string} url */
export function hideLogin(url) {
  const shown = new URL(url);
  shown.username = '';
  shown.password = '';
  return shown.href;
}
