/** A program that may have no more threads than it has after its first tasks. It prints how its tasks end. */
import { execFileSync } from 'node:child_process';
import { ThreadPool } from './thread-pool.ts';

const WORK = `export default (ms) => { Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms); return ms; };`;
/** No user of any system: a limit of processes does not apply to the superuser. */
const NOBODY = 987_654;

const pool = new ThreadPool<number, number>({
  module: `data:text/javascript,${encodeURIComponent(WORK)}`,
  maxThreads: 4,
  resourceLimits: {},
  onError: (error) => process.stderr.write(`a thread died: ${String(error)}`),
});
const run = async (ms: number): Promise<unknown> => pool.take().run(ms).result;
const attempt = (ms: number): Promise<unknown> => run(ms).catch((error: NodeJS.ErrnoException) => error.code);

// Both threads have loaded their code before the process changes its user, who may not read it.
await Promise.all([run(1), run(1)]);
const running = [run(500), run(500)];
execFileSync('prlimit', ['--nproc=1', '--pid', `${process.pid}`]);
if (process.getuid!() === 0) process.setuid!(NOBODY);
const refused = await Promise.all([attempt(1), attempt(1), attempt(1)]);
const ran = await Promise.all(running);
process.stdout.write(JSON.stringify({ refused, ran, runsAgain: await attempt(1) }));
await pool.close();
