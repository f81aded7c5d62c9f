import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stackModule } from './stack.ts';

const NOT_REACHED = /^posthorn: No database answers /m;
const REPEATED_FOR_MS = 180_000;

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** How a program ended, and what it printed. */
export interface EndedProgram {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** The folder and the environment of a program of the repository that a test starts. */
export function programOptions(env: Readonly<Record<string, string | undefined>>) {
  const { NODE_OPTIONS: _jestOnly, ...inherited } = process.env;
  return { cwd: ROOT, env: { ...inherited, ...env } };
}

/**
 * Runs a Node program of the repository as a child process until it ends.
 *
 * @param args its path in the repository, and its arguments
 * @param env settings beside those of the tests' environment
 */
export function runToEnd(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<EndedProgram> {
  return new Promise((resolve) => {
    const child = execFile(process.execPath, args, programOptions(env), (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/**
 * Runs a command of the operators' command line on a database. On a busy machine, it may not reach a healthy one within its limit of three seconds: it says
 * so, and is run again.
 */
export async function runOperatorCommand(
  databaseUrl: string,
  ...args: readonly string[]
): Promise<EndedProgram> {
  const deadline = performance.now() + REPEATED_FOR_MS;
  for (;;) {
    const ended = await runToEnd(['tools/posthorn.mjs', ...args], { DATABASE_URL: databaseUrl });
    if (!NOT_REACHED.test(ended.stderr) || performance.now() > deadline) return ended;
    if (!(await isReached(databaseUrl))) return ended;
  }
}

async function isReached(databaseUrl: string): Promise<boolean> {
  const { query } = await stackModule('postgres');
  return query(databaseUrl, 'SELECT 1').then(
    () => true,
    () => false,
  );
}
