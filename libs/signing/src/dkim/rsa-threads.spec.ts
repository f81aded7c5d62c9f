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

  it('signs by another thread what one had that died', async () => {
    const { output } = await inAProcess(`
      const threads = new RsaThreads();
      await signAll(threads, 1);
      const signing = signAll(threads, 200);
      setTimeout(() => workers[0].terminate(), 10);
      console.log(await signing, workers.length > 1);`);
    expect(output).toEqual(['true true']);
  });

  it('is not held up for ever by threads that die while they start, and says so when it cannot sign', async () => {
    const { output } = await inAProcess(`
      const threads = new RsaThreads();
      process.on('worker', terminate);
      console.log(await signAll(threads, 200).catch(({ message }) => message));
      process.off('worker', terminate);
      console.log(await signAll(threads, 200));
      function terminate(worker) { worker.terminate(); }`);
    expect(output).toEqual([expect.stringMatching(/^(worker exited|Terminating worker)/), 'true']);
  });

  it('keeps no process alive, and lets none end before it has its signature', async () => {
    const { output } = await inAProcess('console.log(await signAll(new RsaThreads(), 1));');
    expect(output).toEqual(['true']);
  });
});

/** What a process prints that runs this, line by line. It must end by itself. */
async function inAProcess(script: string): Promise<{ output: string[] }> {
  const module = new URL('rsa-threads.ts', import.meta.url).href;
  const head = `
    import { generateKeyPairSync, verify } from 'node:crypto';
    import { RsaThreads } from '${module}';
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const workers = [];
    process.on('worker', (worker) => workers.push(worker));
    /** Signs so many texts; says whether all signatures verify. */
    async function signAll(threads, count) {
      const texts = Array.from({ length: count }, (_nothing, n) => 'text ' + n);
      const signatures = await Promise.all(texts.map((text) => threads.sign(text, privateKey)));
      return texts.every((text, n) => verify('sha256', Buffer.from(text), publicKey, Buffer.from(signatures[n], 'base64')));
    }`;
  const node = ['--conditions=@posthorn/source', '--experimental-transform-types', '--input-type=module'];
  const { stdout } = await run(process.execPath, [...node, '--eval', head + script], { timeout: 60_000 });
  return { output: stdout.trimEnd().split('\n') };
}
