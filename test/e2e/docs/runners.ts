import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { it } from '@jest/globals';
import { ALL_SECTIONS, describeSettings } from '@posthorn/platform/settings';
import { type Fence, ROOT, whereIs } from './fences.ts';

/** Far more than any example takes: ten commands in a row take half a minute, and ten times as long on a busy machine. */
const RUN_WITHIN_MS = 800_000;

/** The programs of the packages come first in PATH, as in npm scripts; `node` is then the packaged one. */
const BIN = join(ROOT, 'node_modules', '.bin');

interface Runner {
  readonly file: string;
  /** The command that compiles the file to `program`, which is then run. */
  readonly build?: (file: string, program: string) => readonly string[];
  readonly command: (file: string) => readonly string[];
  /** A command that succeeds if the machine has the language. */
  readonly probe: readonly string[];
}

/** How each language is run. Python and Go are skipped where the machine does not have them, and the test's title says so. */
export const RUNNERS: Readonly<Record<string, Runner>> = {
  sh: { file: 'example.sh', command: (file) => ['sh', '-eu', file], probe: ['sh', '-c', 'true'] },
  ts: {
    file: 'example.mts',
    command: (file) => [process.execPath, '--disable-warning=ExperimentalWarning', file],
    probe: [process.execPath, '--version'],
  },
  python: { file: 'example.py', command: (file) => ['python3', file], probe: ['python3', '--version'] },
  go: {
    file: 'main.go',
    // Not `go run`: when that is killed, the program goes on.
    build: (file, program) => ['go', 'build', '-o', program, file],
    command: (file) => [file],
    probe: ['go', 'version'],
  },
};

/** A test that runs an example, named after its place; left out where the machine lacks its language. */
export function itWithExample(
  title: string,
  example: Fence,
  test: () => Promise<void>,
  withinMs?: number,
): void {
  const name = `${title}: ${whereIs(example)}`;
  const lack = missingProgramFor(example.language);
  if (lack === undefined) it(name, test, withinMs);
  else it.skip(`${name}: left out, this machine lacks ${lack}`, test);
}

/** The program that the machine lacks for a language; undefined if it has it. */
function missingProgramFor(language: string): string | undefined {
  const [program, ...args] = RUNNERS[language]!.probe;
  return spawnSync(program!, args).status === 0 ? undefined : program;
}

/** This process's environment, without any settings of Posthorn. */
export function cleanEnv(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...process.env, PATH: `${BIN}${delimiter}${process.env['PATH']}` };
  for (const { name } of describeSettings(ALL_SECTIONS)) delete env[name];
  // Jest's flags. Below: no heading of npm above a script's output, and no downloads of Go modules.
  delete env['NODE_OPTIONS'];
  // Most of the time that the command line takes is spent on compiling at its start.
  const NODE_COMPILE_CACHE = join(ROOT, '.cache', 'compiled');
  return { ...env, npm_config_loglevel: 'silent', NODE_COMPILE_CACHE, GOPROXY: 'off', GOFLAGS: '', ...more };
}

/** Writes an example to a file, and compiles it if necessary. @returns the command that runs it @throws with the compiler's output */
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
