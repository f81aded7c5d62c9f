import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { ALL_SECTIONS, describeSettings } from '@posthorn/platform';
import { type Fence, ROOT } from './fences.ts';

/** Far more than any takes: ten commands in a row are half a minute here, and ten times that on a machine that is busy. */
const RUN_WITHIN_MS = 800_000;

/** The programs of the checkout come first, as npm has it; a bare `node` is the installed one. */
const BIN = join(ROOT, 'node_modules', '.bin');

interface Runner {
  readonly file: string;
  /** What makes a program of the file; that is then run by itself. */
  readonly build?: (file: string, program: string) => readonly string[];
  readonly command: (file: string) => readonly string[];
  /** Asks the machine whether it has the language. */
  readonly ask: readonly string[];
}

/** How each language is run. Python and Go are left out, by name, where the machine does not have them. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  sh: { file: 'example.sh', command: (file) => ['sh', '-eu', file], ask: ['sh', '-c', 'true'] },
  ts: {
    file: 'example.mts',
    command: (file) => [process.execPath, '--disable-warning=ExperimentalWarning', file],
    ask: [process.execPath, '--version'],
  },
  python: { file: 'example.py', command: (file) => ['python3', file], ask: ['python3', '--version'] },
  go: {
    file: 'main.go',
    // Not `go run`: the program would outlive it when it is killed.
    build: (file, program) => ['go', 'build', '-o', program, file],
    command: (file) => [file],
    ask: ['go', 'version'],
  },
};

/** The program that the machine lacks for a language; undefined: it has it. */
export function lackFor(language: string): string | undefined {
  const [program, ...args] = RUNNERS[language]!.ask;
  return spawnSync(program!, args).status === 0 ? undefined : program;
}

/** An environment that knows nothing of a Posthorn of whoever runs the tests. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${BIN}${delimiter}${process.env['PATH']}` };
  for (const { name } of describeSettings(ALL_SECTIONS)) delete env[name];
  // Jest's own flags; npm's heading above what a script prints; modules that a Go example must do without.
  delete env['NODE_OPTIONS'];
  // What the command line costs is its start, most of it compiling.
  const NODE_COMPILE_CACHE = join(ROOT, '.cache', 'compiled');
  return { ...env, npm_config_loglevel: 'silent', NODE_COMPILE_CACHE, GOPROXY: 'off', GOFLAGS: '', ...more };
}

/** Writes an example to a file of its own, and says how it is run. @throws with the compiler's words */
export async function prepare(
  { language, code }: Pick<Fence, 'language' | 'code'>,
  folder: string,
): Promise<{ command: string; args: string[] }> {
  const { file, build, command } = RUNNERS[language]!;
  const directory = mkdtempSync(join(folder, 'example-'));
  const path = join(directory, file);
  writeFileSync(path, code);
  const program = build === undefined ? path : join(directory, 'program');
  if (build !== undefined) {
    const [compiler, ...args] = build(path, program);
    await promisify(execFile)(compiler!, args, { env: cleanEnv(), timeout: RUN_WITHIN_MS });
  }
  const [first, ...args] = command(program);
  return { command: first!, args };
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a program to its end. */
export function run(
  { command, args }: { command: string; args: readonly string[] },
  { cwd, env }: { cwd: string; env: NodeJS.ProcessEnv },
): Promise<Outcome> {
  return new Promise((resolve) => {
    const options = { cwd, env, timeout: RUN_WITHIN_MS, maxBuffer: 2 ** 24 };
    const child = execFile(command, args, options, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode, stdout, stderr }),
    );
  });
}
