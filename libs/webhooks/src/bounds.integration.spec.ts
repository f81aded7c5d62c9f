import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { HostileReceiver } from '@posthorn/testing';
import {
  BODY,
  expectNoSockets,
  HASTY_MS,
  LOOPBACK,
  noNames,
  PATIENT_MS,
  SLACK_MS,
} from './loopback.fixture.ts';
import type { PostResult } from './post-request.ts';
import { WebhookClient } from './webhook-client.ts';

const MIB = 1024 * 1024;
/** What the buffers of the operating system take in on both sides before anybody reads. */
const BUFFERED = 12 * MIB;
const AT_ONCE = 30;

const receiver = await HostileReceiver.start();
const client = new WebhookClient({ policy: LOOPBACK, lookUp: noNames });
afterEach(() => expectNoSockets(client, receiver));
afterAll(async () => {
  client.close();
  await receiver.close();
});

const post = (path: string, deadlineMs = PATIENT_MS): Promise<PostResult> =>
  client.post({ url: receiver.url(path), headers: {}, body: BODY, deadlineMs });

describe('W7: a response whose body never ends', () => {
  it.each([
    ['/a-gigabyte', 'x'.repeat(4096)],
    ['/small-chunks', 'x'.repeat(4096)],
    ['/gzip-bomb', expect.stringMatching(/^\ufffd/)],
  ])('%s is cut after 64 KiB, and counts', async (path, body) => {
    const before = receiver.written;
    const result = await post(path);
    expect(result).toMatchObject({ kind: 'answered', status: 200, body });
    expect(result.durationMs).toBeLessThan(PATIENT_MS);
    await receiver.allDisconnected();
    expect(receiver.written - before).toBeLessThan(BUFFERED);
  });

  it.each(['/chunk-extension-without-end', '/trailers-without-end'])(
    '%s is cut, and counts',
    async (path) => {
      const before = receiver.written;
      const result = await post(path);
      expect(result).toMatchObject({ kind: 'answered', status: 200, body: '' });
      await receiver.allDisconnected();
      expect(receiver.written - before).toBeLessThan(BUFFERED);
    },
  );

  it.each([
    ['/a-byte-at-a-time', /^x{2,}$/],
    ['/head-then-silent', /^not all$/],
  ])('%s is listened to until the deadline, and counts', async (path, body) => {
    const result = await post(path, HASTY_MS);
    expect(result).toMatchObject({ kind: 'answered', status: 200, body: expect.stringMatching(body) });
    expect(result.durationMs).toBeLessThan(HASTY_MS + SLACK_MS);
  });

  it('is not buffered: many concurrent ones take no memory', async () => {
    await post('/a-gigabyte');
    const before = process.memoryUsage().arrayBuffers;
    let max = 0;
    const watch = setInterval(() => (max = Math.max(max, process.memoryUsage().arrayBuffers)), 5);
    const results = await Promise.all(Array.from({ length: AT_ONCE }, () => post('/a-gigabyte')));
    clearInterval(watch);
    expect(results.filter(({ kind }) => kind === 'answered')).toHaveLength(AT_ONCE);
    // A receiver of the same process has its share in it.
    expect(max - before).toBeLessThan(AT_ONCE * MIB);
  });
});

describe('W7: an answer', () => {
  it('is not decompressed', async () => {
    expect(await post('/gzip')).toMatchObject({ status: 200, body: expect.not.stringContaining('"a"') });
  });

  it('has header fields that can be stored and shown, whatever their names', async () => {
    const result = await post('/strange-fields');
    const headers = result.kind === 'answered' ? result.headers : {};
    expect(Object.entries(headers)).toEqual(
      expect.arrayContaining([
        ['__proto__', 'a'],
        ['constructor', 'b'],
        ['x-latin', 'caf\ufffd'],
      ]),
    );
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
  });

  it('ends at its deadline for a thousand silent receivers, and leaves no open socket', async () => {
    const begun = performance.now();
    const results = await Promise.all(Array.from({ length: 1_000 }, () => post('/silent', HASTY_MS)));
    expect(new Set(results.map((result) => result.kind === 'failed' && result.errorClass))).toEqual(
      new Set(['timeout']),
    );
    // One after the other would take most of an hour.
    expect(performance.now() - begun).toBeLessThan(HASTY_MS + SLACK_MS);
    expect(client.connections.idle).toBe(0);
  });
});
