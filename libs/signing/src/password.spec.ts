import { describe, expect, it } from '@jest/globals';
import { hashPassword, isPassword } from './password.ts';

describe('a password', () => {
  it('matches its hash, and no other password does', async () => {
    const written = await hashPassword('correct horse');
    expect(written).toMatch(/^scrypt\$65536\$8\$2\$/);
    expect(await isPassword('correct horse', written)).toBe(true);
    expect(await isPassword('correct horsf', written)).toBe(false);
    expect(await isPassword('', written)).toBe(false);
  });

  it('has a different hash each time', async () => {
    expect(await hashPassword('x')).not.toBe(await hashPassword('x'));
  });

  it('matches in any Unicode normalization form', async () => {
    expect(await isPassword('cafe\u0301', await hashPassword('caf\u00e9'))).toBe(true);
  });

  it('matches a hash with other cost parameters', async () => {
    const { scryptSync } = await import('node:crypto');
    const salt = Buffer.alloc(16, 1);
    const hash = scryptSync('old', salt, 32, { N: 1024, r: 8, p: 1 });
    const written = `scrypt$1024$8$1$${salt.toString('base64url')}$${hash.toString('base64url')}`;
    expect(await isPassword('old', written)).toBe(true);
  });

  it.each([undefined, '', 'scrypt$1$', 'plain'])(
    'never matches where the stored hash is %s',
    async (written) => {
      expect(await isPassword('x', written)).toBe(false);
    },
  );
});
