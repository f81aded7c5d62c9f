import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const MODULE = fileURLToPath(new URL('./garbage-collector.ts', import.meta.url));

/** Runs a program in a Node of its own; gives what it says and what is wrong with it. */
function run(program: string): { said: string; faults: string } {
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program, MODULE];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  return { said: stdout, faults: stderr };
}

it('V8 has the flags by which the whole heap is spared', () => {
  const program =
    "const { deferFullCollections } = await import(process.argv[1]); deferFullCollections(); console.log('done')";
  expect(run(program)).toEqual({ said: 'done\n', faults: '' });
});

it('V8 says so when it has a flag no more', () => {
  const program = "(await import('node:v8')).setFlagsFromString('--incremental-marking-no-trigger=75')";
  expect(run(program).faults).toContain('unrecognized flag');
});
