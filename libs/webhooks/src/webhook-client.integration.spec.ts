import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { HostileReceiver } from '@posthorn/testing';
import { BODY, expectNoSockets, failed, LOOPBACK, noNames, SLACK_MS } from './loopback.fixture.ts';
import type { PostResult } from './post-request.ts';
import { WebhookClient } from './webhook-client.ts';

const DEADLINE_MS = 1_000;
const PATIENT_MS = 15_000;

let receiver: HostileReceiver;
let client: WebhookClient;
beforeAll(async () => {
  receiver = await HostileReceiver.start();
  client = new WebhookClient({ policy: LOOPBACK, lookUp: noNames });
});
afterEach(() => expectNoSockets(client, receiver));
afterAll(async () => {
  client.close();
  await receiver.close();
});

const post = (path: string, deadlineMs = DEADLINE_MS): Promise<PostResult> =>
  client.post({ url: receiver.url(path), headers: { 'x-a': 'b' }, body: BODY, deadlineMs });

describe('what is posted', () => {
  it('W5: is the very bytes, with the header fields that were given and a length', async () => {
    const result = await post('/ok?a=b%20c&d');
    expect(result).toMatchObject({
      kind: 'answered',
      status: 200,
      headers: { 'x-said': 'Ok', 'content-length': '9' },
      body: 'thank you',
      address: '127.0.0.1',
    });
    const { method, path, headers, body } = receiver.requests.at(-1)!;
    expect({ method, path, body: body.equals(BODY) }).toEqual({
      method: 'POST',
      path: '/ok?a=b%20c&d',
      body: true,
    });
    expect(headers).toEqual({
      'host': `127.0.0.1:${receiver.port}`,
      'connection': 'keep-alive',
      'content-length': String(BODY.length),
      'x-a': 'b',
    });
  });

  it('is refused as a fault of ours when a header field is none', async () => {
    const request = {
      url: receiver.url('/ok'),
      headers: { 'x-a': 'b\r\nx-c: d' },
      body: BODY,
      deadlineMs: 500,
    };
    await expect(client.post(request)).rejects.toThrow('invalid x-a header');
  });
});

describe('W7: an answer', () => {
  it.each([200, 201, 204, 299, 400, 404, 410, 429, 500, 503, 599, 600, 999])(
    'may have the status %i',
    async (status) => {
      expect(await post(`/status/${status}`)).toMatchObject({ kind: 'answered', status, body: '' });
    },
  );

  it.each([300, 301, 302, 303, 304, 305, 307, 308])('%i is not followed', async (status) => {
    const seen = receiver.requests.length;
    expect(await post(`/status/${status}`)).toMatchObject({ kind: 'answered', status });
    expect(receiver.requests.slice(seen).map(({ path }) => path)).toEqual([`/status/${status}`]);
  });

  it.each(['000', '099', '1', '20', '2000', '-200', 'abc'])('cannot have the status %s', async (status) => {
    expect(await post(`/status/${status}`)).toMatchObject(failed('protocol', /answer|interim/));
  });

  it.each(['120', 'Wed, 21 Oct 2099 07:28:00 GMT', 'soon'])(
    'brings Retry-After as it came: %s',
    async (value) => {
      const result = await post(`/retry-after/503/${encodeURIComponent(value)}`);
      expect(result).toMatchObject({ status: 503, retryAfter: value });
    },
  );

  it.each([
    ['/no-content', 204, ''],
    ['/close', 200, 'bye'],
    ['/http-1.0', 200, 'old'],
    ['/early-hints-then-ok', 200, 'ok'],
    ['/two-answers', 200, 'ok'],
    ['/shorter-than-said', 200, 'short'],
    ['/head-then-reset', 200, 'no'],
    ['/gzip-truncated', 200, expect.stringMatching(/^\ufffd/)],
    ['/strange-bytes', 200, 'a\ufffdb\ufffdc\ufffdd\ufffd\n\tend\ufffd'],
  ])('%s counts by its status line and header fields', async (path, status, body) => {
    expect(await post(path)).toMatchObject({ kind: 'answered', status, body });
  });
});

describe('W7: what is no answer', () => {
  it.each([
    ['/reset', 'connect', /broke the connection/],
    ['/hang-up', 'connect', /broke the connection/],
    ['/reset-after-3-bytes', 'protocol', /./],
    ['/both-lengths', 'protocol', /./],
    ['/two-lengths', 'protocol', /./],
    ['/not-http', 'protocol', /./],
    ['/http-2', 'protocol', /./],
    ['/no-version', 'protocol', /./],
    ['/unasked-continue', 'protocol', /./],
    ['/switching-protocols', 'protocol', /./],
    ['/header-of-100-kb', 'protocol', /larger than 16 KiB/],
    ['/header-field-without-end', 'protocol', /larger than 16 KiB/],
    ['/status-line-without-end', 'protocol', /more came/],
    ['/blank-lines-without-end', 'protocol', /more came/],
    ['/early-hints-without-end', 'protocol', /interim/],
  ])('%s is a failure of the class %s', async (path, errorClass, reason) => {
    // Much longer than it takes, also on a busy machine: it is not the deadline that ends these.
    const result = await post(path, PATIENT_MS);
    expect(result).toMatchObject(failed(errorClass, reason));
    expect(result.durationMs).toBeLessThan(PATIENT_MS);
  });

  it.each(['/silent', '/header-without-end'])('%s ends with the deadline', async (path) => {
    const result = await post(path);
    expect(result).toMatchObject(failed('timeout', /^no answer within 1 s: .* after the request was sent$/));
    expect(result.durationMs).toBeGreaterThan(DEADLINE_MS - 5);
    expect(result.durationMs).toBeLessThan(DEADLINE_MS + SLACK_MS);
  });
});

describe('W7: the deadline', () => {
  it('lets through what comes just before it, and nothing that comes after it', async () => {
    const [before, after] = await Promise.all([post('/after/400', 700), post('/after/1000', 700)]);
    expect(before).toMatchObject({ kind: 'answered', status: 200 });
    expect(after).toMatchObject(failed('timeout', /^no answer within 0.7 s/));
    expect(after.durationMs).toBeLessThan(700 + SLACK_MS);
  });

  it('counts what came before it, though this process was held up until after it', async () => {
    const { port, stop } = await startElsewhere();
    const url = `http://127.0.0.1:${port}/`;
    const posted = client.post({ url, headers: {}, body: BODY, deadlineMs: 400 });
    await sleep(100);
    // Within the phase of the event loop that takes in what has come: the timers are next.
    await stat('.');
    holdUp(600);
    expect(await posted).toMatchObject({ kind: 'answered', status: 200 });
    client.closeIdle();
    await stop();
  });
});

/** A receiver in a thread of its own, which answers after 150 ms, whatever this thread does. */
async function startElsewhere(): Promise<{ port: number; stop: () => Promise<unknown> }> {
  const worker = new Worker(
    `const answer = 'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n';
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => setTimeout(() => socket.write(answer), 150));
    });
    server.listen(0, '127.0.0.1', () => require('node:worker_threads').parentPort.postMessage(server.address().port));`,
    { eval: true },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  return { port, stop: () => worker.terminate() };
}

function holdUp(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}
