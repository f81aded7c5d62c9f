import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const MODULE = fileURLToPath(new URL('./defer-full-collections.ts', import.meta.url));

/** Runs a script in a separate Node process. @returns its stdout and stderr */
function run(program: string): { said: string; faults: string } {
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program, MODULE];
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8' });
  return { said: stdout, faults: stderr };
}

it('V8 knows the flags that avoid full garbage collections', () => {
  const program =
    "const { deferFullCollections } = await import(process.argv[1]); deferFullCollections(); console.log('done')";
  expect(run(program)).toEqual({ said: 'done\n', faults: '' });
});

it('V8 reports a flag that it does not know', () => {
  const program = "(await import('node:v8')).setFlagsFromString('--incremental-marking-no-trigger=75')";
  expect(run(program).faults).toContain('unrecognized flag');
});
