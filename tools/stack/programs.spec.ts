import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { endAll, hasEnded, isAlive, run, waitUntil } from './processes.mjs';
import { describeFault } from './script.mjs';

const TOOLS = fileURLToPath(new URL('..', import.meta.url));
/** Who is dead is there until the first process of the machine has seen to it. What is not ended would be there for 600 s. */
const REAPED = { withinMs: 60_000, what: 'Ending' };
const WITHIN = { withinMs: 60_000, what: 'It' };

/** A checkout of the programs alone, in a folder whose name is hard to quote; its npm does not end. */
let root: string;
const started: ChildProcess[] = [];

beforeEach(() => {
  root = join(mkdtempSync(join(tmpdir(), 'programs-')), "a 'b' ü");
  cpSync(TOOLS, join(root, 'tools'), { recursive: true });
  symlinkSync(join(TOOLS, '..', 'node_modules'), join(root, 'node_modules'));
  cpSync(join(TOOLS, '..', 'package.json'), join(root, 'package.json'));
  mkdirSync(join(root, 'bin'));
  const npm =
    '#!/bin/sh\necho $$ >"$(dirname "$0")/../npm.pid"\nsleep 600 &\necho $! >"$(dirname "$0")/../sleep.pid"\nwait\n';
  writeFileSync(join(root, 'bin', 'npm'), npm);
  chmodSync(join(root, 'bin', 'npm'), 0o755);
  writeFileSync(
    join(root, 'package-lock.json'),
    '{"packages":{"node_modules/not-there":{"version":"1.0.0"}}}',
  );
});

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
  rmSync(join(root, '..'), { recursive: true, force: true });
});

/** Makes the checkout read-only for what follows in the same shell; nobody else sees that. */
const READ_ONLY = 'mount --bind . . && mount -o remount,ro,bind . && cd "$PWD"';
const UNSHARE = ['--map-root-user', '--mount', 'sh', '-c'];

/** Not every machine lets its accounts mount anything, even where nobody else sees it. */
function mayMount(): boolean {
  const folder = mkdtempSync(join(tmpdir(), 'mount-'));
  try {
    execFileSync('unshare', [...UNSHARE, READ_ONLY], { cwd: folder, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const itWithMounts = mayMount() ? it : it.skip;

interface Ended {
  readonly output: string;
  readonly code: number | null;
}

interface Called {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

/** Calls a program as npm does. */
function call(program: string, ...args: string[]): Called {
  return callWith({}, program, ...args);
}

function callWith(more: NodeJS.ProcessEnv, program: string, ...args: string[]): Called {
  const env = { ...process.env, PATH: `${join(root, 'bin')}${delimiter}${process.env.PATH}`, ...more };
  const child = spawn(process.execPath, [`tools/${program}.mjs`, ...args], { cwd: root, env });
  started.push(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)));
  const ended = new Promise<Ended>((resolve) => child.once('close', (code) => resolve({ output, code })));
  return { child, ended };
}

function state(name: string): string {
  return join(root, '.posthorn', name);
}

/** The pid of what our npm started, once it has. */
async function pidOf(name: string): Promise<number> {
  const file = join(root, `${name}.pid`);
  await waitUntil(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'), WITHIN);
  return Number(readFileSync(file, 'utf8'));
}

/** Whether its watchdog has been started, which happens a moment after the program itself. */
function hasWatchdog(pid: number): boolean {
  return execFileSync('ps', ['-A', '-o', 'args=']).toString().includes(`kill -INT ${pid} `);
}

describe('A program', () => {
  it.each(['up', 'down', 'nuke', 'check', 'images', 'bench', 'migrate', 'send-corpus'])(
    '%s refuses an option that it does not have in a line, and shows its help',
    async (program) => {
      expect(await call(program, '--nope').ended).toEqual({
        output: "Unknown option '--nope'; --help shows what there is.\n",
        code: 2,
      });
      const help = await call(program, '-h').ended;
      expect(help.output).toContain(`npm run ${program}`);
      expect(help.code).toBe(0);
    },
  );

  it('says in a line that the Node is too old, whatever that Node cannot read', async () => {
    const file = join(root, 'old.cjs');
    writeFileSync(file, "Object.defineProperty(process.versions, 'node', { value: '18.20.4' });");
    const args = ['-r', file, '-r', './tools/stack/node-version.cjs', '-e', 'console.log("started")'];
    const output = run({ command: process.execPath, args, cwd: root });
    await expect(output).rejects.toThrow(/\nNode 18\.20\.4 is too old: install Node 20\.19 or newer .*$/);
  });
});

describe('up', () => {
  it('ends with all that it has started when down asks for it in the middle of an installation', async () => {
    const { ended } = call('up');
    const pids = [await pidOf('npm'), await pidOf('sleep')];
    const down = await call('down').ended;

    expect(down.output).toMatch(/^Posthorn is down\./);
    expect((await ended).output).toContain('✓ Everything stopped');
    await waitUntil(() => !pids.some(isAlive), REAPED);
    expect(existsSync(state('supervisor.json'))).toBe(false);
  });

  it('ends with all that it has started when it is killed', async () => {
    const { child } = call('up');
    const pids = [await pidOf('npm'), await pidOf('sleep')];
    await waitUntil(() => hasWatchdog(pids[0]!), WITHIN);
    child.kill('SIGKILL');

    await waitUntil(() => !pids.some(isAlive), WITHIN);
  });

  it('installs once, however often it is called', async () => {
    call('up');
    await pidOf('npm');
    const second = await call('up').ended;

    expect(second.output).toMatch(/^Posthorn is being started or stopped by process \d+\./);
    expect(second.code).toBe(1);
    await call('down').ended;
  });

  it.each(['', ' after one that was killed'])(
    'is kept by one process, when several are called at the same moment%s',
    async (left) => {
      if (left !== '') {
        mkdirSync(state(''), { recursive: true });
        writeFileSync(state('supervisor.json'), '{"pid":999999999}');
      }
      const calls = Array.from({ length: 6 }, () => call('up'));
      await pidOf('npm');
      const first = await Promise.race(calls.map(async ({ ended }, index) => ({ index, ...(await ended) })));
      expect(first.output).toMatch(/Posthorn is being started/);
      const kept = () => calls.filter(({ child }) => !hasEnded(child));
      await waitUntil(() => kept().length <= 1, WITHIN);
      expect(JSON.parse(readFileSync(state('supervisor.json'), 'utf8'))).toEqual({
        pid: kept()[0]?.child.pid,
      });
      await call('down').ended;
    },
  );

  it('starts when another process creates the state folder at the same moment', async () => {
    writeFileSync(
      join(root, 'other-process.mjs'),
      `import fs from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      const { mkdirSync } = fs;
      fs.mkdirSync = (...call) => {
        fs.mkdirSync = mkdirSync;
        syncBuiltinESMExports();
        mkdirSync(...call);
        return mkdirSync(...call);
      };
      syncBuiltinESMExports();`,
    );
    callWith({ NODE_OPTIONS: '--import=./other-process.mjs' }, 'up');
    await pidOf('npm');
    await call('down').ended;
  });

  it('stays known when down, which found none to stop, ends after it has begun', async () => {
    mkdirSync(state(''), { recursive: true });
    writeFileSync(state('supervisor.json'), '{"pid":999999999}');
    // It has found none once it waits for what one that was killed had started.
    writeFileSync(
      join(root, 'note-waits.mjs'),
      `import { writeFileSync } from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      import timers from 'node:timers/promises';
      const { setTimeout } = timers;
      timers.setTimeout = (...wait) => (writeFileSync('waits', ''), setTimeout(...wait));
      syncBuiltinESMExports();`,
    );
    const { ended } = callWith({ NODE_OPTIONS: '--import=./note-waits.mjs' }, 'down');
    await waitUntil(() => existsSync(join(root, 'waits')), WITHIN);
    rmSync(state('supervisor.json'), { force: true });
    const { child } = call('up');
    await pidOf('npm');

    expect((await ended).output).toBe('Posthorn was not up.\n');
    expect(JSON.parse(readFileSync(state('supervisor.json'), 'utf8'))).toEqual({ pid: child.pid });
    await call('down').ended;
  });

  it('installs what the build needs as well where npm would leave it out', async () => {
    const npm = join(root, 'bin', 'npm');
    writeFileSync(npm, '#!/bin/sh\necho "npm error called as npm $*"; exit 1\n');
    const { output } = await call('up').ended;
    expect(output).toContain(
      'called as npm ci --include=dev --include=optional --ignore-scripts=false --no-audit --no-fund',
    );
  });

  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'leaves nothing behind when %s reaches it before it has detached itself',
    async (signal) => {
      const { child, ended } = call('up', '--detach');
      const pid = await pidOf('sleep');
      child.kill(signal);

      expect((await ended).output).toMatch(/Nothing was left running\.\n$/);
      await waitUntil(() => !isAlive(pid), REAPED);
      expect(existsSync(state('supervisor.json'))).toBe(false);
    },
  );

  it('leaves nothing behind when it is killed before it has detached itself', async () => {
    const { child } = call('up', '--detach');
    const pid = await pidOf('sleep');
    child.kill('SIGKILL');

    await waitUntil(() => !existsSync(state('supervisor.json')), WITHIN);
    await waitUntil(() => !isAlive(pid), REAPED);
  });

  it('goes on when nobody reads any more what it says', async () => {
    const { child, ended } = call('up');
    const pid = await pidOf('sleep');
    child.stdout?.destroy();
    child.kill('SIGTERM');

    expect((await ended).code).toBe(0);
    await waitUntil(() => !isAlive(pid), REAPED);
  });

  it('takes no stack for one that is up whose supervisor was killed, or whose files are damaged', async () => {
    mkdirSync(state(''), { recursive: true });
    writeFileSync(state('stack.json'), '{"apiUrl"');
    writeFileSync(state('supervisor.json'), '{"pi');
    const { child, ended } = call('up');
    await pidOf('npm');

    expect(existsSync(state('stack.json'))).toBe(false);
    expect(JSON.parse(readFileSync(state('supervisor.json'), 'utf8'))).toEqual({ pid: child.pid });
    child.kill('SIGTERM');
    await ended;
  });

  it('does not take what runs of another commit for what is checked out', async () => {
    const identity = ['-c', 'user.name=ada', '-c', 'user.email=ada@example.com'];
    execFileSync('git', ['init', '--quiet'], { cwd: root });
    execFileSync('git', [...identity, 'commit', '--quiet', '--allow-empty', '-m', 'one'], { cwd: root });
    const running = call('up');
    await pidOf('npm');
    writeFileSync(state('stack.json'), '{"form": "an older one"}');

    expect(await call('up').ended).toEqual({
      output: expect.stringMatching(
        /^Posthorn is already up, run by process \d+, but not as it is checked out now \(\S+, commit [0-9a-f]+\): npm run down stops it, and npm run up then starts that\.\n$/,
      ),
      code: 1,
    });
    running.child.kill('SIGTERM');
    await running.ended;
  });

  it('says in a line where it may not write', async () => {
    writeFileSync(state(''), 'a file where the folder should be');
    const { output, code } = await call('up').ended;

    expect(output).toMatch(/^[^\n]+\.posthorn[^\n]*\n$/);
    expect(code).toBe(1);
  });
});

describe('A checkout or a temporary folder that cannot be used', () => {
  itWithMounts(
    'is named in a line, where the checkout is read-only (skipped where nothing may be mounted)',
    async () => {
      const calls = `${READ_ONLY}; "$1" tools/up.mjs`;
      const failed = run({
        command: 'unshare',
        args: [...UNSHARE, calls, 'sh', process.execPath],
        cwd: root,
      });
      await expect(failed).rejects.toThrow(
        /ended with 1:\n[^\n]*\.posthorn cannot be written: the file system is read-only\. Use a checkout that can be written\.$/,
      );
    },
  );

  itWithMounts(
    'is named in a line, where the client of the database cannot be made (skipped where nothing may be mounted)',
    async () => {
      mkdirSync(join(root, 'libs', 'database', 'src', 'generated'), { recursive: true });
      const calls = `${READ_ONLY}; "$1" tools/prisma.mjs generate`;
      const args = [...UNSHARE, calls, 'sh', process.execPath];
      await expect(run({ command: 'unshare', args, cwd: root })).rejects.toThrow(
        /ended with 1:\n[^\n]*generated cannot be written: the file system is read-only\. Use a checkout that can be written\.$/,
      );
    },
  );

  it('is named in a line, where there is no temporary folder', () => {
    const folder = join(root, 'not-there');
    const found = faultOf(() => mkdtempSync(join(folder, 'posthorn-test-')));
    expect(describeFault(found)).toBe(
      `There can be no temporary files in ${folder} (ENOENT: no such file or directory): make it a folder that this account may write to, or set TMPDIR to another.`,
    );
  });

  it('is named in the last line, where a program that was run found the disk full', async () => {
    const args = ['-c', 'echo "could not write to file: No space left on device" >&2; exit 1'];
    const found = await run({ command: 'sh', args }).catch((error: unknown) => error);
    expect(describeFault(found)).toMatch(/\nThe disk is full: make room, then run this again\.$/);
  });

  it.each([
    'migrate: migration 20300102000000_second_laid was changed after it was applied; add a new one instead',
    'migrate: the database has migration 20300102000000_second_laid, which this release lacks: use the release that applied it, or a newer one',
  ])('says how to begin anew after another branch, or an edited migration: %s', (said) => {
    expect(describeFault(new Error(said))).toBe(
      `${said}\nIf this is the database that npm run up keeps in .posthorn, npm run nuke removes it with its data, and npm run up starts afresh.`,
    );
  });
});

function faultOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error('it did not fail');
}

describe('down and nuke', () => {
  it('stop in order what stands still, as after a Ctrl-Z', async () => {
    const { child, ended } = call('up');
    await pidOf('sleep');
    child.kill('SIGSTOP');
    await call('down').ended;

    expect((await ended).output).toContain('✓ Everything stopped');
  });

  it('do not wait for one that has ended and that nobody has seen to, as in a container without an init', async () => {
    const parent = spawn('sh', ['-c', '"$1" tools/up.mjs & exec sleep 600', 'sh', process.execPath], {
      cwd: root,
      env: { ...process.env, PATH: `${join(root, 'bin')}${delimiter}${process.env.PATH}` },
    });
    started.push(parent);
    await pidOf('npm');
    // If it waited, that would be in vain, and it would say so.
    const { output, code } = await call('down').ended;

    expect([output, code]).toEqual([expect.stringMatching(/^Posthorn is down\./), 0]);
  });

  it('clear up what is damaged', async () => {
    mkdirSync(state(''), { recursive: true });
    writeFileSync(state('supervisor.json'), '{"pi');
    expect((await call('down').ended).output).toBe('Posthorn was not up.\n');
    writeFileSync(state('supervisor.json'), '');
    expect((await call('nuke').ended).output).toMatch(/\nNothing was removed\.\n$/);
    expect((await call('nuke', '--yes').ended).output).toBe('Posthorn is down and .posthorn is gone.\n');
    expect(existsSync(state(''))).toBe(false);
  });
});

describe('run', () => {
  const args = ['-c', 'echo \'{"id":1}\'; echo "(node:1) Warning: …" >&2; exit $STATUS'];

  it('gives what a program says, without its warnings', async () => {
    expect(await run({ command: 'sh', args, env: { STATUS: '0' } })).toBe('{"id":1}\n');
  });

  it('gives everything that it said where it fails', async () => {
    const failed = run({ command: 'sh', args, env: { STATUS: '3' } });
    await expect(failed).rejects.toThrow(/ ended with 3:\n\{"id":1\}\n\(node:1\) Warning: …$/);
  });
});

describe('askedToStop', () => {
  it('takes the first signal for all: a second Ctrl-C interrupts no cleaning up', async () => {
    const script = `
      import { askedToStop } from './tools/stack/processes.mjs';
      setInterval(() => undefined, 1_000);
      void askedToStop().then(() => process.stdout.write('cleaning up\\n'));
      process.on('SIGUSR2', () => process.exit(7));
      process.stdout.write('ready\\n');`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], { cwd: root });
    started.push(child);
    let output = '';
    child.stdout.on('data', (text) => (output += String(text)));
    await waitUntil(() => output.includes('ready'), WITHIN);
    child.kill('SIGINT');
    await waitUntil(() => output.includes('cleaning up'), WITHIN);
    child.kill('SIGINT');
    child.kill('SIGUSR2');
    await waitUntil(() => hasEnded(child), WITHIN);

    expect(child.exitCode).toBe(7);
    expect(output).toBe('ready\ncleaning up\n');
  });
});

describe('endAll', () => {
  it('ends what commands have started as well, and they fail', async () => {
    const script = 'sleep 600 & echo $! >sleep.pid; wait';
    const failed = expect(run({ command: 'sh', args: ['-c', script], cwd: root })).rejects.toThrow(/^sh -c/);
    const pid = await pidOf('sleep');
    await endAll();

    await failed;
    await waitUntil(() => !isAlive(pid), REAPED);
  });
});
