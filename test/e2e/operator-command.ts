import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Stack } from './stack.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** The result of a command of the operators' command line. */
export interface CommandResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command of the operators' command line on the database of the stack. */
export function runOperatorCommand(stack: Stack, ...args: readonly string[]): Promise<CommandResult> {
  const { NODE_OPTIONS: _jestOnly, ...inherited } = process.env;
  const options = { cwd: ROOT, env: { ...inherited, DATABASE_URL: stack.databaseUrl } };
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      ['tools/posthorn.mjs', ...args],
      options,
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}
