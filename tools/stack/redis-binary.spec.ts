import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { install, INSTALLERS } from './redis-binary.mjs';

let folder: string;
const { PATH } = process.env;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'apt-'));
  process.env['PATH'] = `${folder}:${PATH}`;
});
afterEach(() => {
  process.env['PATH'] = PATH;
  rmSync(folder, { recursive: true });
});

it('installs from the lists that apt-get has, if it cannot update them because a repository of somebody else is gone, and waits for who holds the lock', async () => {
  const script = `#!/bin/sh\necho "$*" >> ${folder}/calls\ntest "$1" != update || exit 100\n`;
  writeFileSync(join(folder, 'apt-get'), script);
  chmodSync(join(folder, 'apt-get'), 0o755);
  // Without what it does to the services of this machine.
  const { underSystemd: _, ...installer } = INSTALLERS.find(({ manager }) => manager === 'apt-get')!;
  await install(installer, []);
  const patience = '-o DPkg::Lock::Timeout=600 -o Acquire::Retries=5';
  expect(readFileSync(join(folder, 'calls'), 'utf8')).toBe(
    `update ${patience}\ninstall -y --no-install-recommends redis-server ${patience}\n`,
  );
});
