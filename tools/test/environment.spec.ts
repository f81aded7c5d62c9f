import { existsSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ROOT } from '../stack/runtime.mjs';
import Environment from './environment.mjs';

const DIRECTORY = '.posthorn/test-logs/test/e2e/some.spec';
const GOOD = '{"level":"info","msg":"ready"}\n';
const BAD = [1, 2, 3, 4, 5, 6].map((n) => `{"level":"error","msg":"amiss ${n}"}`);

function environmentOf(spec: string): Environment {
  const config = { testEnvironmentOptions: {}, globals: {}, fakeTimers: {} };
  return new Environment(
    { globalConfig: {}, projectConfig: config },
    { testPath: join(ROOT, spec), docblockPragmas: {}, console },
  );
}

describe('The environment of the tests', () => {
  let environment: Environment;
  let told: string;

  beforeEach(() => {
    told = '';
    jest.spyOn(process.stderr, 'write').mockImplementation((text) => {
      told += String(text);
      return true;
    });
    environment = environmentOf('test/e2e/some.spec.ts');
    const output = [GOOD, ...BAD.map((line) => `${line}\n`)].join('');
    environment.global.programsUnderTest = [{ name: 'sender', pid: 7, output }];
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await environment.teardown();
    rmSync(join(ROOT, DIRECTORY), { recursive: true, force: true });
  });

  it.each([
    ['"sends"', { name: 'test_done', test: { name: 'sends', errors: [new Error('no')] } }],
    ['a hook (no app)', { name: 'hook_failure', error: new Error('no app') }],
  ])('keeps what programs wrote when %s has failed, and shows what was wrong last', (what, event) => {
    environment.handleTestEvent(event);
    expect(told).toContain(`test/e2e/some.spec.ts: ${what} failed`);
    expect(told).toContain(`${DIRECTORY}/sender-7.log (6 warnings and errors)`);
    expect(told.match(/amiss \d/g)).toEqual(['amiss 2', 'amiss 3', 'amiss 4', 'amiss 5', 'amiss 6']);
    const kept = readFileSync(join(ROOT, DIRECTORY, 'sender-7.log'), 'utf8');
    expect(kept).toBe(`${GOOD}${BAD.join('\n')}\n`);
  });

  it('keeps it when a spec of the same name in another folder begins, and not when the same one does', async () => {
    const file = join(ROOT, DIRECTORY, 'sender-7.log');
    environment.handleTestEvent({ name: 'hook_failure', error: new Error('no app') });
    await environmentOf('test/e2e/bad-input/some.spec.ts').teardown();
    expect(existsSync(file)).toBe(true);
    await environmentOf('test/e2e/some.spec.ts').teardown();
    expect(existsSync(file)).toBe(false);
  });

  it('fails a spec that leaves something open, unless one of its tests has failed', async () => {
    const server = createServer();
    const leaving = ['passes', 'fails'].map((outcome) => {
      const left = environmentOf(`test/e2e/${outcome}.spec.ts`);
      left.closedWithinMs = 50;
      return left;
    });
    leaving[1]!.handleTestEvent({ name: 'hook_failure', error: new Error('no app') });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      await expect(leaving[0]!.teardown()).rejects.toThrow('The spec has left open: TCPServerWrap');
      await leaving[1]!.teardown();
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('waits until what the spec has ended is gone', async () => {
    const waiting = environmentOf('test/e2e/slow.spec.ts');
    setTimeout(() => undefined, 100);
    await waiting.teardown();
  });

  it('says nothing of a test that passes, nor where no program was started', () => {
    environment.handleTestEvent({ name: 'test_done', test: { name: 'sends', errors: [] } });
    environment.global.programsUnderTest = [];
    environment.handleTestEvent({ name: 'test_done', test: { name: 'sends', errors: [new Error('no')] } });
    expect(told).toBe('');
  });
});
