import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { linkPackages } from './link-packages.mjs';

it('Linking packages adds the missing links once, and skips directories without a package.json', () => {
  const root = mkdtempSync(join(tmpdir(), 'packages-'));
  for (const directory of ['apps/gateway', 'libs/dns', 'libs/left-over'])
    mkdirSync(join(root, directory), { recursive: true });
  writeFileSync(join(root, 'apps/gateway/package.json'), '{ "name": "@posthorn/gateway" }');
  writeFileSync(join(root, 'libs/dns/package.json'), '{ "name": "@posthorn/dns" }');

  expect(linkPackages(root)).toEqual(['@posthorn/gateway', '@posthorn/dns']);
  expect(linkPackages(root)).toEqual([]);
  expect(readlinkSync(join(root, 'node_modules/@posthorn/dns'))).toBe('../../libs/dns');
  rmSync(root, { recursive: true });
});
