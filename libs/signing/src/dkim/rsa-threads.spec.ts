import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { RsaThreads } from './rsa-threads.ts';

const run = promisify(execFile);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

const signed = (text: string): string =>
  sign('sha256', Buffer.from(text, 'latin1'), privateKey).toString('base64');

describe('RsaThreads', () => {
  it('gives each its own signature, the one that Node makes, however many are asked for at once', async () => {
    const threads = new RsaThreads();
    const texts = Array.from({ length: 300 }, (_nothing, index) => `text \xe4 ${index}`);
    const signatures = await Promise.all(texts.map((text) => threads.sign(text, privateKey)));
    expect(signatures).toEqual(texts.map((text) => signed(text)));
  });

  it('tells why a key cannot sign, at no cost to those that are signed beside it', async () => {
    const threads = new RsaThreads();
    const other = generateKeyPairSync('ed25519').privateKey;
    const [good, bad, alsoGood] = await Promise.allSettled(
      [privateKey, other, privateKey].map((key) => threads.sign('text', key)),
    );
    expect([good, alsoGood]).toMatchObject([{ value: signed('text') }, { value: signed('text') }]);
    expect(bad).toMatchObject({ reason: { message: expect.stringMatching(/^RSA cannot sign: ./) } });
  });

  it('keeps no process alive, and lets none end before it has its signature', async () => {
    const module = new URL('rsa-threads.ts', import.meta.url).href;
    const script = `
      import { generateKeyPairSync, verify } from 'node:crypto';
      import { RsaThreads } from '${module}';
      const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
      const signature = await new RsaThreads().sign('text', privateKey);
      console.log(verify('sha256', Buffer.from('text'), publicKey, Buffer.from(signature, 'base64')));`;
    const node = ['--conditions=@posthorn/source', '--experimental-transform-types', '--input-type=module'];
    expect((await run(process.execPath, [...node, '--eval', script], { timeout: 60_000 })).stdout).toBe(
      'true\n',
    );
  });
});
