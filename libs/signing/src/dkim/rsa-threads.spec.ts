import { describe, expect, it } from '@jest/globals';
import { execFile } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { promisify } from 'node:util';
import { NODE_ON_SOURCES } from '@posthorn/testing';
import { RsaThreads } from './rsa-threads.ts';

const run = promisify(execFile);
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });

const signed = (text: string): string =>
  sign('sha256', Buffer.from(text, 'latin1'), privateKey).toString('base64');

describe('RsaThreads', () => {
  it('makes the same signatures as Node, for 300 concurrent calls', async () => {
    const threads = new RsaThreads();
    const texts = Array.from({ length: 300 }, (_nothing, index) => `text \xe4 ${index}`);
    const signatures = await Promise.all(texts.map((text) => threads.sign(text, privateKey)));
    expect(signatures).toEqual(texts.map((text) => signed(text)));
  });

  it('reports why a key cannot sign, without failing concurrent calls', async () => {
    const threads = new RsaThreads();
    const other = generateKeyPairSync('ed25519').privateKey;
    const [good, bad, alsoGood] = await Promise.allSettled(
      [privateKey, other, privateKey].map((key) => threads.sign('text', key)),
    );
    expect([good, alsoGood]).toMatchObject([{ value: signed('text') }, { value: signed('text') }]);
    expect(bad).toMatchObject({ reason: { message: expect.stringMatching(/^RSA cannot sign: ./) } });
  });

  it('signs nevertheless what a thread had that died, and starts another one', async () => {
    const { output } = await inAProcess(`
      const threads = new RsaThreads();
      await signAll(threads, 1);
      const signing = signAll(threads, 2_000);
      setImmediate(() => workers[0].terminate());
      console.log(await signing, workers.length > 1);`);
    expect(output).toEqual(['true true']);
  });

  it('signs without threads when they die while they start', async () => {
    const { output } = await inAProcess(`
      const threads = new RsaThreads();
      process.on('worker', (worker) => worker.terminate());
      console.log(await signAll(threads, 200));`);
    expect(output).toEqual(['true']);
  });

  it('signs without threads when the system gives none', async () => {
    const { output } = await inAProcess(`
      const { execFileSync } = await import('node:child_process');
      execFileSync('prlimit', ['--nproc=1', '--pid', String(process.pid)]);
      // No user of any system: a limit of processes does not apply to the superuser.
      if (process.getuid() === 0) process.setuid(987_654);
      console.log(await signAll(new RsaThreads(), 200), workers.length);`);
    expect(output).toEqual(['true 0']);
  });

  it('keeps the process alive while a signature is awaited, but no longer', async () => {
    const { output } = await inAProcess('console.log(await signAll(new RsaThreads(), 1));');
    expect(output).toEqual(['true']);
  });
});

/** The lines that a process prints which runs this script. It must end by itself. */
async function inAProcess(script: string): Promise<{ output: string[] }> {
  const module = new URL('rsa-threads.ts', import.meta.url).href;
  const head = `
    const { generateKeyPairSync, verify } = await import('node:crypto');
    const { RsaThreads } = await import('${module}');
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const workers = [];
    process.on('worker', (worker) => workers.push(worker));
    /** Signs so many texts; says whether all signatures verify. */
    async function signAll(threads, count) {
      const texts = Array.from({ length: count }, (_nothing, n) => 'text ' + n);
      const signatures = await Promise.all(texts.map((text) => threads.sign(text, privateKey)));
      return texts.every((text, n) => verify('sha256', Buffer.from(text), publicKey, Buffer.from(signatures[n], 'base64')));
    }`;
  const [node, ...flags] = NODE_ON_SOURCES;
  const args = [...flags, '--eval', `void (async () => {${head}${script}})()`];
  const { stdout } = await run(node!, args, { timeout: 200_000 });
  return { output: stdout.trimEnd().split('\n') };
}
