import { stat } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { HostileReceiver } from '@posthorn/testing';
import {
  BODY,
  expectNoSockets,
  failed,
  HASTY_MS,
  LOOPBACK,
  noNames,
  PATIENT_MS,
  SLACK_MS,
} from './loopback.fixture.ts';
import type { PostResult } from './post-request.ts';
import { WebhookClient } from './webhook-client.ts';

const receiver = await HostileReceiver.start();
const client = new WebhookClient({ policy: LOOPBACK, lookUp: noNames });
afterEach(() => expectNoSockets(client, receiver));
afterAll(async () => {
  client.close();
  await receiver.close();
});

const post = (path: string, deadlineMs = PATIENT_MS): Promise<PostResult> =>
  client.post({ url: receiver.url(path), headers: { 'x-a': 'b' }, body: BODY, deadlineMs });

describe('what is posted', () => {
  it('W5: consists of exactly the given bytes, with the given header fields and a Content-Length', async () => {
    const result = await post('/ok?a=b%20c&d');
    expect(result).toMatchObject({
      kind: 'answered',
      status: 200,
      headers: { 'x-said': 'Ok', 'content-length': '9' },
      body: 'thank you',
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

  it('is rejected as our own fault when a header field is invalid', async () => {
    const request = {
      url: receiver.url('/ok'),
      headers: { 'x-a': 'b\r\nx-c: d' },
      body: BODY,
      deadlineMs: PATIENT_MS,
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
    ['/unasked-continue', 200, 'ok'],
    ['/unasked-continue-in-pieces', 200, 'ok'],
    ['/two-answers', 200, 'ok'],
    ['/shorter-than-said', 200, 'short'],
    ['/head-then-reset', 200, 'no'],
    ['/gzip-truncated', 200, expect.stringMatching(/^\ufffd/)],
    ['/strange-bytes', 200, 'a\ufffdb\ufffdc\ufffdd\ufffd\n\tend\ufffd'],
  ])('%s counts by its status line and header fields', async (path, status, body) => {
    expect(await post(path)).toMatchObject({ kind: 'answered', status, body });
  });
});

describe('W7: invalid responses', () => {
  it.each([
    ['/reset', 'connect', /closed the connection/],
    ['/hang-up', 'connect', /closed the connection/],
    ['/reset-after-3-bytes', 'protocol', /./],
    ['/both-lengths', 'protocol', /./],
    ['/two-lengths', 'protocol', /./],
    ['/not-http', 'protocol', /^the answer was not valid HTTP\/1\.1 \(Expected HTTP\//],
    ['/http-2', 'protocol', /./],
    ['/no-version', 'protocol', /./],
    ['/unasked-continue-then-hang-up', 'protocol', /./],
    ['/unasked-continue-without-end', 'protocol', /too many bytes/],
    ['/unasked-continue-of-100-kb', 'protocol', /larger than 16 KiB/],
    ['/switching-protocols', 'protocol', /./],
    ['/header-of-100-kb', 'protocol', /larger than 16 KiB/],
    ['/header-field-without-end', 'protocol', /larger than 16 KiB/],
    ['/status-line-without-end', 'protocol', /too many bytes/],
    ['/blank-lines-without-end', 'protocol', /too many bytes/],
    ['/early-hints-without-end', 'protocol', /interim/],
  ])('%s is a failure of the class %s', async (path, errorClass, reason) => {
    const result = await post(path);
    expect(result).toMatchObject(failed(errorClass, reason));
    // It is not the deadline that ends these.
    expect(result.durationMs).toBeLessThan(PATIENT_MS);
  });

  it.each(['/silent', '/header-without-end'])('%s ends with the deadline', async (path) => {
    const result = await post(path, HASTY_MS);
    expect(result).toMatchObject(failed('timeout', /^no answer within 3 s: .* after the request was sent$/));
    expect(result.durationMs).toBeGreaterThan(HASTY_MS - 5);
    expect(result.durationMs).toBeLessThan(HASTY_MS + SLACK_MS);
  });
});

describe('W7: the deadline', () => {
  it('accepts responses before it, and none after it', async () => {
    const late = post('/after/80000', 3_500);
    const inTime = post('/after/1000', 3_500);
    expect(await inTime).toMatchObject({ kind: 'answered', status: 200 });
    expect(await late).toMatchObject(failed('timeout', /^no answer within 3.5 s/));
  });

  it('accepts a response that arrived before it, even if this process was blocked until after it', async () => {
    const elsewhere = await startElsewhere();
    const url = `http://127.0.0.1:${elsewhere.port}/`;
    const begunAt = performance.now();
    const posted = client.post({ url, headers: {}, body: BODY, deadlineMs: HASTY_MS });
    await elsewhere.isAsked;
    // Within the phase of the event loop that takes in what has come: the timers are next.
    await stat('.');
    elsewhere.holdUpUntilItAnswers();
    holdUpUntil(begunAt + HASTY_MS + 100);
    expect(await posted).toMatchObject({ kind: 'answered', status: 200 });
    client.closeIdle();
    await elsewhere.stop();
  });
});

/** A receiver in a thread of its own, which answers when this thread does nothing but wait for it. */
async function startElsewhere() {
  const turns = new Int32Array(new SharedArrayBuffer(8));
  const worker = new Worker(
    `const { parentPort, workerData: turns } = require('node:worker_threads');
    const answer = 'HTTP/1.1 200 OK\\r\\nContent-Length: 0\\r\\n\\r\\n';
    const turnOver = (index) => { Atomics.store(turns, index, 1); Atomics.notify(turns, index); };
    const server = require('node:net').createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => {
        parentPort.postMessage('asked');
        Atomics.wait(turns, 0, 0);
        socket.write(answer, () => turnOver(1));
      });
    });
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));`,
    { eval: true, workerData: turns },
  );
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const isAsked = new Promise((resolve) => worker.once('message', resolve));
  const holdUpUntilItAnswers = (): void => {
    Atomics.store(turns, 0, 1);
    Atomics.notify(turns, 0);
    Atomics.wait(turns, 1, 0);
  };
  return { port, isAsked, holdUpUntilItAnswers, stop: () => worker.terminate() };
}

function holdUpUntil(time: number): void {
  while (performance.now() < time);
}
