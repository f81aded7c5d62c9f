import { describe, expect, it } from '@jest/globals';
import { hashPassword, isPassword } from './password.ts';

describe('a password', () => {
  it('is known again by its hash, and no other is', async () => {
    const written = await hashPassword('correct horse');
    expect(written).toMatch(/^scrypt\$65536\$8\$2\$/);
    expect(await isPassword('correct horse', written)).toBe(true);
    expect(await isPassword('correct horsf', written)).toBe(false);
    expect(await isPassword('', written)).toBe(false);
  });

  it('has another hash each time', async () => {
    expect(await hashPassword('x')).not.toBe(await hashPassword('x'));
  });

  it('is the same however its letters are composed', async () => {
    expect(await isPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  it('is known by the cost that it was hashed with', async () => {
    const { scryptSync } = await import('node:crypto');
    const salt = Buffer.alloc(16, 1);
    const hash = scryptSync('old', salt, 32, { N: 1024, r: 8, p: 1 });
    const written = `scrypt$1024$8$1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
    expect(await isPassword('old', written)).toBe(true);
  });

  it.each([undefined, '', 'scrypt$1$', 'plain'])('is none where the hash is %s', async (written) => {
    expect(await isPassword('x', written)).toBe(false);
  });
});
