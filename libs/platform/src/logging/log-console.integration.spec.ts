import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { NODE_ON_SOURCES } from '@posthorn/testing';

const MODULE = fileURLToPath(new URL('./create-logger.ts', import.meta.url));

it('console output of libraries and warnings of Node become redacted lines of the log', () => {
  const program = `
    const { createLogger } = await import(process.argv[1]);
    const logger = createLogger({ LOG_LEVEL: 'info' }, 'test');
    console.warn('IMPORTANT! Eviction policy is %s', 'allkeys-lru');
    console.error('gone:', new TypeError('jane@example.com'));
    console.log('hello');
    process.emitWarning('11 listeners of jane@example.com', 'MaxListenersExceededWarning');
    process.emitWarning('untold', 'ExperimentalWarning');
    await new Promise((resolve) => setImmediate(resolve));
    logger.flush();`;
  const flags = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program, MODULE];
  const { NODE_OPTIONS: _jestOnly, ...env } = process.env;
  const [node, ...more] = NODE_ON_SOURCES;
  const { stdout, stderr } = spawnSync(node!, [...more, ...flags], { env, encoding: 'utf8' });
  expect(stderr).toBe('');
  const lines = stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({ level: 'warn', app: 'test', msg: 'IMPORTANT! Eviction policy is allkeys-lru' }),
    expect.objectContaining({ level: 'error', err: expect.objectContaining({ type: 'TypeError' }) }),
    expect.objectContaining({ level: 'info', msg: 'hello' }),
    expect.objectContaining({
      level: 'warn',
      err: expect.objectContaining({ stack: expect.stringMatching(/^MaxListenersExceededWarning: /) }),
      msg: expect.stringContaining('11 listeners'),
    }),
  ]);
  expect(stdout).not.toContain('jane');
});
