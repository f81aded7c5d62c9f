import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { RsaThreads } from './rsa-threads.ts';

const run = promisify(execFile);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

describe('RsaThreads', () => {
  it('gives each its own signature, the one that Node makes, however many are asked for at once', async () => {
    const threads = new RsaThreads();
    const texts = Array.from({ length: 300 }, (_nothing, index) => Buffer.from(`text ${index}`));
    const signatures = await Promise.all(texts.map((data) => threads.sign({ data, privateKey })));
    expect(signatures).toEqual(texts.map((data) => sign('sha256', data, privateKey)));
  });

  it('tells why a key cannot sign, at no cost to those that are signed beside it', async () => {
    const threads = new RsaThreads();
    const other = generateKeyPairSync('ed25519').privateKey;
    const data = Buffer.from('text');
    const [good, bad, alsoGood] = await Promise.allSettled(
      [privateKey, other, privateKey].map((key) => threads.sign({ data, privateKey: key })),
    );
    const signature = sign('sha256', data, privateKey);
    expect([good, alsoGood]).toMatchObject([{ value: signature }, { value: signature }]);
    expect(bad).toMatchObject({ reason: { message: expect.stringMatching(/^RSA cannot sign: ./) } });
  });

  it('keeps no process alive, and lets none end before it has its signature', async () => {
    const module = new URL('rsa-threads.ts', import.meta.url).href;
    const script = `
      import { generateKeyPairSync, verify } from 'node:crypto';
      import { RsaThreads } from '${module}';
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
      const data = Buffer.from('text');
      console.log(verify('sha256', data, publicKey, await new RsaThreads().sign({ data, privateKey })));`;
    const node = ['--conditions=@posthorn/source', '--experimental-transform-types', '--input-type=module'];
    expect((await run(process.execPath, [...node, '--eval', script], { timeout: 60_000 })).stdout).toBe(
      'true\n',
    );
  });
});
