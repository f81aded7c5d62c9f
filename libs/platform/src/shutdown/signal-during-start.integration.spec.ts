import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { NODE_ON_SOURCES } from '@posthorn/testing';

const MODULES = ['../http/sample-app.fixture.ts', './start-process.ts', './run-until-signal.ts'];

/** The signal arrives when the event loop has no turn any more before the process is ready. */
const PROGRAM = `
const [{ startSampleApp }, { startProcess }, { runUntilSignal }] = await Promise.all(process.argv.slice(1).map((url) => import(url)));
await startProcess('test', async () => {
  const { app } = await startSampleApp();
  const logger = { info: (fields, text) => process.stdout.write(text + '\\n'), flush: () => undefined };
  process.kill(process.pid, 'SIGTERM');
  await runUntilSignal(app, { logger });
});`;

it('a signal that arrives just when a process becomes ready shuts it down', () => {
  const urls = MODULES.map((path) => fileURLToPath(new URL(path, import.meta.url)));
  const { NODE_OPTIONS: _jestOnly, ...env } = process.env;
  const [node, ...more] = NODE_ON_SOURCES;
  const args = [...more, '--input-type=module', '--eval', PROGRAM, ...urls];
  const { stdout, status, signal } = spawnSync(node!, args, {
    env,
    encoding: 'utf8',
    timeout: 200_000,
    killSignal: 'SIGKILL',
  });
  expect({ stdout, status, signal }).toEqual({ stdout: 'shutting down\nexiting\n', status: 0, signal: null });
});
