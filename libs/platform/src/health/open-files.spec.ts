import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type OpenFiles, OpenFilesWatch } from './open-files.ts';

const said: string[] = [];
beforeEach(() => {
  said.length = 0;
  const sayAs =
    (level: string) =>
    (message: string): void =>
      void said.push(`${level} ${message}`);
  Logger.overrideLogger({ log: sayAs('info'), warn: sayAs('warn'), error: sayAs('error') });
});
afterEach(() => {
  Logger.overrideLogger(['error']);
});

it('a shortage of file descriptors is logged once, again when none are left, and when it is over', async () => {
  const few = { open: 8, max: 10 };
  const found: OpenFiles[] = [few, { open: 9, max: 10 }, { open: 10, max: 10 }, undefined, undefined];
  const watch = new OpenFilesWatch(() => Promise.resolve(found.shift()));
  for (const _each of [...found]) await watch.checkOnce();
  expect(said).toEqual([
    'warn 9 of 10 file descriptors are in use: raise the limit (ulimit -n)',
    expect.stringContaining('error ALARM: no file descriptors are left'),
  ]);
  found.push({ open: 9, max: 10 }, few, few);
  for (const _each of [...found]) await watch.checkOnce();
  expect(said.slice(2)).toEqual(['info enough file descriptors are free again']);
});

it('nothing is logged where the system does not report file descriptors', async () => {
  await new OpenFilesWatch(() => Promise.reject(new Error('ENOENT'))).checkOnce();
  expect(said).toEqual([]);
});
