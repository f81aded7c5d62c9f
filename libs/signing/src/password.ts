import { randomBytes, scrypt, type ScryptOptions, timingSafeEqual } from 'node:crypto';

const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** 64 MiB and about a quarter of a second: one of the settings of the OWASP Password Storage Cheat Sheet. */
const COST = { N: 2 ** 16, r: 8, p: 2 } as const;
const MAX_MEMORY = 256 * 1024 * 1024;
/** The stored form. It includes the cost, so that the cost can be changed for new passwords. */
const WRITTEN = /^scrypt\$(\d{1,7})\$(\d{1,2})\$(\d{1,2})\$([\w-]{22})\$([\w-]{43})$/;

/** The stored form of a password: scrypt (RFC 7914) with a random salt, as `scrypt$N$r$p$salt$hash`. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(password, salt, COST);
  return ['scrypt', COST.N, COST.r, COST.p, salt.toString('base64url'), hash.toString('base64url')].join('$');
}

/**
 * Whether a password matches a hash. Without a hash, the result is false after the same time, so that the time does not reveal whether
 * there is an account.
 */
export async function isPassword(password: string, written: string | undefined): Promise<boolean> {
  const [, N, r, p, salt, hash] = WRITTEN.exec(written ?? '') ?? [];
  if (salt === undefined || hash === undefined) {
    await derive(password, randomBytes(SALT_BYTES), COST);
    return false;
  }
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const derived = await derive(password, Buffer.from(salt, 'base64url'), cost);
  return timingSafeEqual(derived, Buffer.from(hash, 'base64url'));
}

function derive(password: string, salt: Buffer, cost: ScryptOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFKC'), salt, HASH_BYTES, { ...cost, maxmem: MAX_MEMORY }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}
