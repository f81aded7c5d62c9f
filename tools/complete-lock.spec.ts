import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { complete, platformOf } from './complete-lock.mjs';

describe('Completing the lock file', () => {
  it('reads the platform out of a package’s name', () => {
    expect(platformOf('@swc/core-linux-x64-musl')).toEqual({ os: ['linux'], cpu: ['x64'], libc: ['musl'] });
    expect(platformOf('@swc/core-linux-arm-gnueabihf')).toEqual({
      os: ['linux'],
      cpu: ['arm'],
      libc: ['glibc'],
    });
    expect(platformOf('@nx/nx-darwin-arm64')).toEqual({ os: ['darwin'], cpu: ['arm64'] });
  });

  it('adds the optional packages that are missing, once', () => {
    const packages = {
      'node_modules/a': { dev: true, optionalDependencies: { 'a-darwin-x64': '1.2.3' } },
      'node_modules/b': { optionalDependencies: { 'a-darwin-x64': '1.2.3' } },
    };
    expect(complete(packages)).toEqual(['a-darwin-x64@1.2.3']);
    expect(packages).toHaveProperty(['node_modules/a-darwin-x64'], {
      version: '1.2.3',
      dev: true,
      optional: true,
      os: ['darwin'],
      cpu: ['x64'],
    });
  });

  it('has nothing to add to ours, so that npm ci accepts it on every platform', () => {
    const lock = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8')) as {
      packages: Record<string, object>;
    };
    expect(complete(lock.packages)).toEqual([]);
  });
});
