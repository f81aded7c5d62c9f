import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { LineBuffer } from './line-buffer.ts';

describe('LineBuffer', () => {
  let written: string[];
  let gathered: LineBuffer;
  let before: NodeJS.ExitListener[];
  beforeEach(() => {
    written = [];
    before = process.listeners('exit');
    gathered = new LineBuffer({
      write: (lines) => void written.push(lines),
      flushSync: () => void written.push('(at once)'),
    });
  });
  afterEach(() => {
    for (const listener of exitListeners()) process.off('exit', listener);
  });

  const exitListeners = (): NodeJS.ExitListener[] =>
    process.listeners('exit').filter((listener) => !before.includes(listener));

  it('writes lines that arrive in quick succession together, in order, without a flush', async () => {
    for (const line of ['a\n', 'b\n', 'c\n']) gathered.write(line);
    expect(written).toEqual([]);
    while (written.length === 0) await sleep(1);
    gathered.write('d\n');
    while (written.length === 1) await sleep(1);
    expect(written).toEqual(['a\nb\nc\n', 'd\n']);
  });

  it('writes at once when many lines wait', () => {
    const line = `${'x'.repeat(3_999)}\n`;
    for (let n = 0; n < 5; n += 1) gathered.write(line);
    expect(written).toEqual([line.repeat(4)]);
  });

  it('writes the remaining lines synchronously when the process exits', () => {
    gathered.write('last words\n');
    for (const listener of exitListeners()) listener(0);
    expect(written).toEqual(['last words\n', '(at once)']);
  });
});
