import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { cpus, loadavg, platform, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { run } from '../stack/processes.mjs';
import { nodeBinary } from '../stack/runtime.mjs';
import { median } from './numbers.mjs';

const SYNCS = 50;
const PAGE = Buffer.alloc(8_192, 1);

/**
 * What the figures depend on.
 *
 * @param {import('./environment.mjs').BenchEnvironment} environment
 * @returns {Promise<Record<string, string>>}
 */
export async function describeMachine(environment) {
  /** @type {any[]} */
  const [server] = await environment.query(
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
            current_setting('synchronous_commit') AS commit`,
  );
  const all = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: await gitCommit(),
    processor: `${all[0]?.model.trim() ?? 'unknown'}, ${all.length} cores`,
    memory: `${(totalmem() / 2 ** 30).toFixed(1)} GiB`,
    system: `${platform()} ${release()}`,
    Node: (await run({ command: nodeBinary(), args: ['--version'] })).trim(),
    Postgres: `${server?.version}, fsync ${server?.fsync}, synchronous_commit ${server?.commit}`,
    load: `${(loadavg()[0] ?? 0).toFixed(1)} in the minute before; above 0.5 something else was running`,
    disk: `${syncMs().toFixed(2)} ms for 8 kB with fdatasync`,
  };
}

async function gitCommit() {
  try {
    const commit = (await run({ command: 'git', args: ['rev-parse', '--short', 'HEAD'] })).trim();
    const changes = await run({
      command: 'git',
      args: ['status', '--porcelain', '--', 'apps', 'libs', 'prisma'],
    });
    return changes.trim() === '' ? commit : `${commit}, with changes`;
  } catch {
    return 'unknown';
  }
}

/** The minimum that a commit waits. It is meaningless if the temporary folder is in memory. */
function syncMs() {
  const folder = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
  const file = openSync(join(folder, 'sync'), 'w');
  try {
    const times = Array.from({ length: SYNCS }, () => {
      const begunAt = performance.now();
      writeSync(file, PAGE);
      fdatasyncSync(file);
      return performance.now() - begunAt;
    });
    return median(times);
  } finally {
    closeSync(file);
    rmSync(folder, { recursive: true });
  }
}
