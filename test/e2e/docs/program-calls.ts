import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from '@jest/globals';
import type { Checkout } from './checkout.ts';
import type { Fence } from './fences.ts';

/** A program that only records its name and arguments. */
const RECORDING_PROGRAM = `#!/bin/sh
for word in "\${0##*/}" "$@"; do printf '%s\\037' "$word"; done >>"$CALLS"
printf '\\036' >>"$CALLS"
`;

/** Runs a block in the shell with recording programs in place of `programs`. @returns the name and arguments of each call */
export async function callsOf(
  { code }: Fence,
  programs: readonly string[],
  checkout: Checkout,
): Promise<string[][]> {
  const folder = join(checkout.folder, 'recording-programs');
  const calls = join(folder, 'calls');
  mkdirSync(folder, { recursive: true });
  for (const program of programs) writeFileSync(join(folder, program), RECORDING_PROGRAM, { mode: 0o755 });
  rmSync(calls, { force: true });
  const script = `PATH="${folder}${delimiter}$PATH"\n${code}`;
  const {
    code: exit,
    stdout,
    stderr,
  } = await checkout.run({ language: 'sh', code: script }, { CALLS: calls });
  expect({ exit, stdout, stderr }).toEqual({ exit: 0, stdout: '', stderr: '' });
  const recorded = existsSync(calls) ? readFileSync(calls, 'utf8') : '';
  return recorded
    .split('\u001e')
    .slice(0, -1)
    .map((call) => call.split('\u001f').slice(0, -1));
}

/** Runs a command locally that an example runs in a container or a pod. */
export async function runLocally(words: readonly string[], checkout: Checkout): Promise<void> {
  const code = words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
  const { code: exit, stderr } = await checkout.run({ language: 'sh', code });
  expect({ words, exit, stderr: exit === 0 ? '' : stderr }).toEqual({ words, exit: 0, stderr: '' });
}
