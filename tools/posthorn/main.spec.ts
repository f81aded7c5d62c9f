import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { COMMANDS } from './commands.mjs';
import { carryOut } from './main.mjs';

const PROGRAM = fileURLToPath(new URL('../posthorn.mjs', import.meta.url));

/** Runs the command line in a shell, which lets its output end somewhere else. */
function ended(where: string): { code: number | null; stderr: string } {
  const line = `set -o pipefail; "$0" "$1" help ${where}`;
  const { status, stderr } = spawnSync('bash', ['-c', line, process.execPath, PROGRAM], { encoding: 'utf8' });
  return { code: status, stderr };
}

describe('The command line', () => {
  it.each(['resume', 'workspace limit', 'identity create'])(
    'tells machines of `%s` all that it tells people, and which flags go together',
    async (name) => {
      const command = COMMANDS.find((each) => each.name === name);
      const { stdout } = await carryOut(['help', ...name.split(' '), '--json']);
      expect(JSON.parse(stdout)).toEqual({ ...command, run: undefined, show: undefined });
    },
  );

  it('fails when its output is lost, as on a full disk', () => {
    const { code, stderr } = ended('> /dev/full');
    expect(code).toBe(1);
    expect(stderr).toMatch(/^posthorn: its output is lost, .*\(ENOSPC.*\)\n$/);
  });

  it('ends as ever when nobody reads on', () => {
    expect(ended('| true')).toEqual({ code: 0, stderr: '' });
  });
});
