import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { askedToStop, hasEnded } from './processes.mjs';
import { ROOT } from './runtime.mjs';
import { newLogFile } from './state.mjs';

/**
 * Starts a supervisor that outlives this program, shows its progress, and returns when everything is healthy. If this program is asked to
 * stop before, it stops the supervisor as well.
 *
 * @param {{ withBuild: boolean }} options
 * @throws when the supervisor gave up; its reason has been shown
 */
export async function detach({ withBuild }) {
  const logFile = newLogFile('supervisor');
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, ['tools/up.mjs', ...(withBuild ? [] : ['--no-build'])], {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  void askedToStop().then(() => child.kill('SIGTERM'));
  let isUp = false;
  child.once('message', () => (isUp = true));
  const showNews = follow(logFile);
  while (!isUp && !hasEnded(child)) {
    await sleep(50);
    showNews();
  }
  showNews();
  if (!isUp) throw new Error('Nothing was left running.');
  child.disconnect();
  child.unref();
}

/** @returns {() => void} prints what was appended to a file since the last call */
function follow(file) {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(64 * 1024);
  const decoder = new StringDecoder('utf8');
  return () => {
    const length = readSync(descriptor, buffer);
    process.stdout.write(decoder.write(buffer.subarray(0, length)));
  };
}
