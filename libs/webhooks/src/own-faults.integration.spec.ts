import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { NODE_ON_SOURCES } from '@posthorn/testing';

const PROGRAM = fileURLToPath(new URL('./post-without-resources.fixture.ts', import.meta.url));
/** Only who may make one can test without a network. */
const canLoseNetwork = spawnSync('unshare', ['-n', 'true']).status === 0;

/** What a program prints that is run by a shell. */
function run(command: string, ...args: string[]): unknown {
  const { NODE_OPTIONS: _jestOnly, ...env } = process.env;
  const { stdout, stderr } = spawnSync(
    'sh',
    ['-c', `${command} "$@"`, 'sh', ...NODE_ON_SOURCES, PROGRAM, ...args],
    {
      env,
      encoding: 'utf8',
    },
  );
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

describe('W8: a lack of resources of this machine does not count as a failure of a receiver', () => {
  it('file descriptors', () => {
    expect(run('ulimit -n 64; exec', 'http://127.0.0.1:1/', 'files')).toMatchObject({
      kind: 'ours',
      reason: expect.stringContaining('file descriptors'),
    });
  });

  (canLoseNetwork ? it : it.skip)('a network', () => {
    // With loopback, which is no network either, where a program is there that can set it up.
    const withLoopback = `exec unshare -n sh -c 'ip link set lo up 2>&-; exec "$0" "$@"'`;
    expect(run(withLoopback, 'http://10.0.0.1/')).toMatchObject({
      kind: 'ours',
      reason: 'this machine has no network',
    });
  });

  it('but a refused connection does', () => {
    expect(run('exec', 'http://127.0.0.1:1/')).toMatchObject({ kind: 'failed', errorClass: 'connect' });
  });
});
