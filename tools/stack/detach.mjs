import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync, readSync } from 'node:fs';
import { hasEnded, waitUntil } from './processes.mjs';
import { nodeBinary, ROOT } from './runtime.mjs';
import { makeStateFolder, newLogFile, STACK_FILE } from './state.mjs';

/** Longer than any of the steps may take together. */
const UP_WITHIN_MS = 10 * 60_000;

/**
 * Starts a supervisor that outlives this program, shows its progress, and returns when all is healthy.
 *
 * @param {{ withBuild: boolean }} options
 * @throws when the supervisor gave up; its reason has been shown
 */
export async function detach({ withBuild }) {
  makeStateFolder();
  const logFile = newLogFile('supervisor');
  const log = openSync(logFile, 'a');
  const child = spawn(nodeBinary(), ['tools/up.mjs', ...(withBuild ? [] : ['--no-build'])], {
    cwd: ROOT,
    env: { ...process.env, POSTHORN_DETACHED: '1' },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const showNews = follow(logFile);
  const isDecided = () => {
    showNews();
    return hasEnded(child) || existsSync(STACK_FILE);
  };
  try {
    await waitUntil(isDecided, { withinMs: UP_WITHIN_MS, what: 'Starting' });
    // What it says last is written just after.
    await waitUntil(() => hasEnded(child) || isSaid(showNews()), { withinMs: 5_000, what: 'The summary' });
  } finally {
    showNews();
  }
  if (hasEnded(child)) throw new Error('Nothing was left running.');
  child.unref();
  process.stdout.write('It runs in the background: npm run down stops it.\n');
}

function isSaid(news) {
  return news.includes('Took ');
}

/** @returns {() => string} shows, and gives, what was added to a file since the last call */
function follow(file) {
  const descriptor = openSync(file, 'r');
  const buffer = Buffer.alloc(64 * 1024);
  let said = '';
  return () => {
    const length = readSync(descriptor, buffer);
    const news = buffer.toString('utf8', 0, length).replace(' Ctrl-C stops everything.', '');
    process.stdout.write(news);
    said += news;
    return said;
  };
}
