import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { NODE_ON_SOURCES } from '@posthorn/testing';
import { LineOutput } from './line-output.ts';

const PROGRAM = fileURLToPath(new URL('./logging-program.fixture.ts', import.meta.url));
const MAX_WAITING = 100_000;
const LINE = `${'x'.repeat(999)}\n`;
/** More lines than fit into an unread pipe (64 KiB), a write in progress and the queue (MAX_WAITING each). */
const MANY = 300;
const READ_WITHIN_MS = 60_000;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-lines-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('A process that logs', () => {
  /** How it ends when its standard output leads there. */
  function logTo(path: string): unknown[] {
    const { NODE_OPTIONS: _jestOnly, ...env } = process.env;
    const options = { env, encoding: 'utf8', timeout: 200_000 } as const;
    const { status, signal, stderr } = spawnSync(
      'sh',
      ['-c', `exec "$@" >${path}`, 'sh', ...NODE_ON_SOURCES, PROGRAM],
      options,
    );
    return [status, signal, stderr];
  }

  it('goes on, and exits normally, although the disk of its log is full', () => {
    expect(logTo('/dev/full')).toEqual([0, null, 'logged all of it\n']);
  });

  it('has written every line when it exits', () => {
    const path = join(folder, 'log');
    expect(logTo(path)).toEqual([0, null, 'logged all of it\n']);
    // A write that is in progress at the exit may complete after the rest.
    const numbers = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { line: number }).line)
      .sort((a, b) => a - b);
    expect(numbers).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });
});

describe('LineOutput', () => {
  let path: string;
  let pipe: number;
  let lost: number[];
  let output: LineOutput;
  beforeEach(() => {
    path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    pipe = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
    lost = [];
    output = new LineOutput(pipe, (lines) => lost.push(lines), MAX_WAITING);
  });
  afterEach(() => closeSync(pipe));

  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

  /**
   * Reads until it is enough. Not by timers: where a look takes longer than the time to the next one, Node runs timers for ever, and what was written is
   * told to nobody.
   */
  async function readUntil(isEnough: (taken: string) => boolean): Promise<string> {
    let taken = '';
    for (const end = performance.now() + READ_WITHIN_MS; !isEnough(taken); await nextTurn()) {
      if (performance.now() > end) throw new Error(`only ${taken.length} characters came`);
      taken += read();
    }
    return taken;
  }

  /** What can be read just now. */
  function read(): string {
    const buffer = Buffer.alloc(MAX_WAITING);
    try {
      return buffer.toString('utf8', 0, readSync(pipe, buffer));
    } catch {
      return '';
    }
  }

  it('keeps a limited number of lines while nobody reads, and then reports how many were lost', async () => {
    for (let n = 0; n < MANY; n += 1) {
      output.write(LINE);
      await nextTurn();
    }
    // On a slow machine some are told before all are written, and the last line has room only once the others are read.
    const kept = (): string => LINE.repeat(MANY - lost.reduce((sum, lines) => sum + lines, 0));
    const before = await readUntil((some) => lost.length > 0 && some === kept());
    output.write('last\n');
    const taken = before + (await readUntil((some) => some.endsWith('last\n')));
    expect(taken).toBe(`${kept()}last\n`);
  });

  it('does not wait at the end for a reader that does not read', async () => {
    while (takes(pipe, LINE));
    while (takes(pipe, '.'));
    output.write('first\n');
    output.write('second\n');
    output.flushSync();
    // It came back; what had been handed on before is taken once there is room.
    const taken = await readUntil((some) => some.endsWith('first\n'));
    expect(taken).not.toContain('second');
  });
});

/** Whether it fits into the pipe. */
function takes(pipe: number, text: string): boolean {
  try {
    return writeSync(pipe, text) > 0;
  } catch {
    return false;
  }
}
