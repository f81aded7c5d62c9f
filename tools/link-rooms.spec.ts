import { mkdirSync, mkdtempSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { linkRooms } from './link-rooms.mjs';

it('Linking rooms links what is missing, once, and passes by what is no room', () => {
  const root = mkdtempSync(join(tmpdir(), 'rooms-'));
  for (const room of ['apps/gateway', 'libs/dns', 'libs/left-over'])
    mkdirSync(join(root, room), { recursive: true });
  writeFileSync(join(root, 'apps/gateway/package.json'), '{ "name": "@posthorn/gateway" }');
  writeFileSync(join(root, 'libs/dns/package.json'), '{ "name": "@posthorn/dns" }');

  expect(linkRooms(root)).toEqual(['@posthorn/gateway', '@posthorn/dns']);
  expect(linkRooms(root)).toEqual([]);
  expect(readlinkSync(join(root, 'node_modules/@posthorn/dns'))).toBe('../../libs/dns');
  rmSync(root, { recursive: true });
});
