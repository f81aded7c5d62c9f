import { fork } from 'node:child_process';
import { nodeBinary } from '../stack/runtime.mjs';

/**
 * A child process of the benchmark: it answers requests over Node's IPC channel, and exits when its parent does.
 *
 * @typedef {{ ask: (verb: string, question?: object) => Promise<any>, stop: () => Promise<void> }} BenchProcess
 */

/**
 * @param {URL} script
 * @returns {Promise<BenchProcess>} once it runs
 */
export async function startBenchProcess(script) {
  const env = { ...process.env, NODE_ENV: 'production' };
  const child = fork(script, { execPath: nodeBinary(), execArgv: [], detached: true, env });
  /** @type {Map<number, { resolve: (value: any) => void, reject: (error: Error) => void }>} */
  const asked = new Map();
  let questions = 0;
  let isEnded = false;
  child.on('message', (/** @type {any} */ { id, value, fault }) => {
    const { resolve, reject } = asked.get(id) ?? {};
    asked.delete(id);
    if (fault === undefined) resolve?.(value);
    else reject?.(new Error(fault));
  });
  const ended = new Promise((resolve) => child.once('exit', () => resolve(undefined)));
  void ended.then(() => {
    isEnded = true;
    for (const { reject } of asked.values()) reject(new Error(`${script.pathname} ended`));
  });
  const ask = (verb, question = {}) => {
    if (isEnded) return Promise.reject(new Error(`${script.pathname} ended`));
    questions += 1;
    const id = questions;
    return new Promise((resolve, reject) => {
      asked.set(id, { resolve, reject });
      child.send({ id, verb, question });
    });
  };
  const stop = async () => {
    child.kill('SIGKILL');
    await ended;
  };
  await ask('ready');
  return { ask, stop };
}

/**
 * Makes a server listen on a free port of 127.0.0.1.
 *
 * @param {import('node:net').Server} server
 * @returns {Promise<number>} the port
 */
export function listen(server) {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
    });
  });
}

/**
 * The child's side: answers the parent's requests until the parent is gone.
 *
 * @param {Record<string, (question: any) => unknown>} answers by verb
 */
export function answerParent(answers) {
  process.on('disconnect', () => process.exit());
  /** @param {any} asked */
  const answer = async ({ id, verb, question }) => {
    try {
      process.send?.({ id, value: verb === 'ready' ? true : await answers[verb]?.(question) });
    } catch (error) {
      process.send?.({ id, fault: error.message });
    }
  };
  process.on('message', (asked) => void answer(asked));
}
