import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request, type Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Refusal, sleep } from '@posthorn/kernel';
import { metricsText } from '../../metrics/metrics.ts';
import { LARGEST_BODY, postJson, startSampleApp, type SampleApp } from '../sample-app.fixture.ts';

describe('the JSON body', () => {
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp({
      bodies: { maxBytes: 1_000, maxBytesByPath: { '/v1/things/big': 3_000_000 } },
    });
  });
  afterAll(() => sample.close());

  async function post(
    body: string | Uint8Array<ArrayBuffer>,
    headers = {},
    path = '/v1/things',
  ): Promise<[number, unknown]> {
    const response = await postJson(sample.url + path, body, headers);
    const { statusCode, message, ...rest } = (await response.json()) as Record<string, unknown>;
    return [response.status, statusCode === undefined ? rest : message];
  }

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON ;charset="UTF-8"',
    'application/json; profile=x',
  ])('is accepted as %s', async (type) => {
    expect(await post('{"name":"a"}', { 'Content-Type': type })).toEqual([200, { name: 'a', size: 0 }]);
  });

  it.each([
    'text/plain',
    'application/json; charset=utf-16',
    'application/json; charset = latin1',
    'application/json; charset=utf-8; charset=latin1',
    'application/x-www-form-urlencoded',
    'application/json5',
    '',
  ])('is refused with 415 as %j', async (type) => {
    const message = 'The header `Content-Type` must be application/json, in UTF-8';
    expect(await post('{"name":"a"}', { 'Content-Type': type })).toEqual([415, message]);
  });

  it('is refused with 415 when it is compressed', async () => {
    const headers = { 'Content-Encoding': 'gzip' };
    expect(await post(new Uint8Array(gzipSync('{"name":"a"}')), headers)).toMatchObject([
      415,
      /not be compressed/,
    ]);
    expect(await post('{"name":"a"}', { 'Content-Encoding': 'identity' })).toMatchObject([200, {}]);
  });

  it('is refused with 415 when it has a transfer coding for compression, whether it is compressed or not', async () => {
    for (const piece of [gzipSync('{"name":"a"}'), '{"name":"a"}']) {
      const { status, body } = await stream(sample.port, [piece], 'gzip, chunked');
      expect([status, body]).toEqual([415, expect.stringContaining('`Transfer-Encoding`')]);
    }
    expect(await stream(sample.port, ['{"name":"a"}'], 'Chunked')).toMatchObject({ status: 200 });
  });

  it.each([
    ['', 'The body is missing; send a JSON object'],
    ['{"name":', 'The body is not valid JSON: it ends too early'],
    ['["a"]', 'The body must be a JSON object'],
    ['null', 'The body must be a JSON object'],
    ['"a"', 'The body must be a JSON object'],
    ['{"name":"a","name":"b"}', 'The body has the key `name` twice in one object; send it once'],
  ])('is refused with 400 when it is %j', async (body, message) => {
    expect(await post(body)).toEqual([400, message]);
  });

  it('is refused when it is not UTF-8, and accepted with a byte order mark', async () => {
    const latin1 = new Uint8Array(Buffer.from('{"name":"\xe4"}', 'latin1'));
    expect(await post(latin1)).toEqual([400, 'The body is not valid UTF-8; encode it as UTF-8']);
    const cutSurrogate = new Uint8Array([
      ...Buffer.from('{"name":"'),
      0xed,
      0xa0,
      0x80,
      ...Buffer.from('"}'),
    ]);
    expect(await post(cutSurrogate)).toEqual([400, 'The body is not valid UTF-8; encode it as UTF-8']);
    expect(await post('\ufeff{"name":"a"}')).toMatchObject([200, { name: 'a' }]);
  });

  it('is validated after credential, path and method', async () => {
    expect(await post('{', {}, '/v1/things/guarded')).toMatchObject([401, /Authorization/]);
    expect(await post('{', {}, '/v1/nope')).toMatchObject([404, /nothing/]);
    expect(await post('{', {}, '/v1/things/1')).toMatchObject([405, /GET/]);
  });

  it('is not parsed before the credential was accepted', async () => {
    const parse = jest.spyOn(JSON, 'parse');
    const parsed = () => parse.mock.calls.filter(([text]) => text === '{"name":"costly"}').length;
    expect(await post('{"name":"costly"}', {}, '/v1/things/guarded')).toMatchObject([401, /Authorization/]);
    expect(parsed()).toBe(0);
    expect(await post('{"name":"costly"}')).toMatchObject([200, {}]);
    expect(parsed()).toBe(1);
    parse.mockRestore();
  });

  it('is not required by a route that needs none', async () => {
    const response = await fetch(`${sample.url}/v1/things/1/cancel`, { method: 'POST' });
    expect([response.status, await response.json()]).toEqual([200, { id: '1', isCancelled: true }]);
  });

  it('is refused with 413 by its announced length, before it has been read', async () => {
    const big = JSON.stringify({ name: 'a', html: 'x'.repeat(2_000_000) });
    expect(await post(big)).toMatchObject([
      413,
      /^The body has 2,000,022 bytes, 1,999,022 more than the 1,000 bytes/,
    ]);
    for (const path of ['/v1/things/big', '/V1/Things/BIG', '/v1/things/big/'])
      expect(await post(big, {}, path)).toEqual([200, { size: 2_000_000 }]);
  });

  it('is refused with 413 while it is being received, and the client can read the answer', async () => {
    const answer = await stream(
      sample.port,
      Array.from({ length: 200 }, () => 'x'.repeat(10_000)),
    );
    expect(answer).toMatchObject({ status: 413, headers: { connection: 'close' } });
    expect(JSON.parse(answer.body)).toMatchObject({
      statusCode: 413,
      error: 'Payload Too Large',
      message: expect.stringContaining('is larger than the 1,000 bytes allowed here; make it smaller'),
    });
  });

  it('is received to its end over a slow line after it was refused, so that a client that reads no answer before that is not cut off', async () => {
    const socket = connect(sample.port, '127.0.0.1');
    let answer = '';
    socket.on('data', (data) => (answer += data.toString()));
    const isClosed = once(socket, 'end');
    const head = [
      'POST /v1/things HTTP/1.1',
      'Host: a',
      'Content-Type: application/json',
      'Content-Length: 2000',
    ];
    socket.write(`${head.join('\r\n')}\r\n\r\n`);
    for (let sent = 0; sent < 2_000; sent += 200) {
      await sleep(500);
      expect([sent, socket.readableEnded]).toEqual([sent, false]);
      socket.write('x'.repeat(200));
    }
    await isClosed;
    expect(answer).toMatch(/^HTTP\/1\.1 413 .*Connection: close.*\r\n\r\n\{"statusCode":413/s);
  });

  it('is not waited for after it was refused when no more of it comes', async () => {
    const socket = connect(sample.port, '127.0.0.1').resume();
    socket.write(
      'POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 2000\r\n\r\nxxx',
    );
    await once(socket, 'end');
  });

  it('is assembled from chunks that split a string', async () => {
    const answer = await stream(sample.port, ['{"na', 'me":"', 'ä"', '}']);
    expect([answer.status, answer.body]).toEqual([200, '{"name":"ä","size":0}']);
  });

  it('is assembled from chunks of one byte', async () => {
    const name = 'a'.repeat(900);
    const answer = await stream(sample.port, [...`{"name":"${name}"}`]);
    expect([answer.status, answer.body]).toEqual([200, JSON.stringify({ name, size: 0 })]);
  });

  it('is logged as cut short, and without a status, when the client resets the connection in the middle of it', async () => {
    const outgoing = request({
      host: '127.0.0.1',
      port: sample.port,
      method: 'POST',
      path: '/v1/things',
      headers: { 'Content-Type': 'application/json', 'Content-Length': '500', 'X-Request-Id': 'gone' },
    });
    outgoing.on('error', () => undefined);
    const arrived = once(sample.app.getHttpServer() as Server, 'request');
    outgoing.write('{"name":');
    await arrived;
    outgoing.socket!.resetAndDestroy();
    const linesAboutIt = () => sample.lines.filter((line) => line['requestId'] === 'gone');
    while (linesAboutIt().length === 0) await sleep(5);
    expect(linesAboutIt()).toMatchObject([{ msg: 'request', cutShort: true }]);
    expect(linesAboutIt()[0]).not.toHaveProperty('status');
    const counted = await metricsText((error) => {
      throw error;
    });
    expect(counted).toContain('_count{method="POST",route="none",status="none"} 1');
  });
});

describe('bodies that together exceed the limit of bytes', () => {
  it('are not all refused: one is accepted, and the other is answered 503 while it is still being sent', async () => {
    const sample = await startSampleApp({
      bodies: { maxBytes: 5_000_000 },
      inFlight: { maxRequests: 10, maxBytes: 6_000_000 },
    });
    const body = JSON.stringify({ name: 'x'.repeat(5_000_000 - '{"name":""}'.length) });
    const head = [
      'POST /v1/things HTTP/1.1',
      'Host: a',
      'Content-Type: application/json',
      'Content-Length: 5000000',
    ];
    const senders = [1, 2].map(() => connect(sample.port, '127.0.0.1'));
    for (const sender of senders) sender.write(`${head.join('\r\n')}\r\n\r\n${body.slice(0, 3_500_000)}`);
    const answers = senders.map(async (sender) => {
      const [answer] = (await once(sender, 'data')) as [Buffer];
      return { sender, answer: answer.toString() };
    });
    const first = await Promise.race(answers);
    expect(first.answer).toMatch(/^HTTP\/1\.1 503 /);
    for (const sender of senders) if (sender !== first.sender) sender.write(body.slice(3_500_000));
    const all = await Promise.all(answers);
    expect(all.find(({ sender }) => sender !== first.sender)!.answer).toMatch(/^HTTP\/1\.1 200 /);
    for (const sender of senders) sender.destroy();
    await sample.close();
  });
});

describe('a body that is refused by its announced length', () => {
  it('takes no place among the requests in flight while its sender goes on', async () => {
    const sample = await startSampleApp({
      bodies: { maxBytes: 1_000 },
      inFlight: { maxRequests: 1, maxBytes: 1_000_000 },
    });
    const head = ['POST /v1/things HTTP/1.1', 'Host: a', 'Content-Type: application/json'];
    const sender = connect(sample.port, '127.0.0.1');
    sender.write(`${head.join('\r\n')}\r\nContent-Length: 2000\r\n\r\nx`);
    expect(String((await once(sender, 'data'))[0])).toMatch(/^HTTP\/1\.1 413 /);
    expect((await fetch(`${sample.url}/v1/things/1`)).status).toBe(200);
    sender.destroy();
    await sample.close();
  });
});

describe('a body of more than 64 KiB', () => {
  const MOST = 64 * 1024;
  const judged: unknown[] = [];
  let fault: Error | undefined;
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp({
      bodies: {
        maxBytes: LARGEST_BODY,
        admitLongBody: (incoming) => {
          judged.push(incoming.url);
          return fault === undefined ? Promise.resolve('ada') : Promise.reject(fault);
        },
      },
    });
  });
  afterAll(() => {
    // A refused body may still be in transit.
    (sample.app.getHttpServer() as Server).closeAllConnections();
    return sample.close();
  });
  beforeEach(() => {
    judged.length = 0;
    fault = undefined;
  });

  const jsonOf = (bytes: number): string =>
    JSON.stringify({ name: 'x'.repeat(bytes - '{"name":""}'.length) });

  it('is read completely after its sender was admitted, once', async () => {
    const answer = await postJson(`${sample.url}/v1/things`, jsonOf(1_000_000));
    expect([answer.status, judged]).toEqual([200, ['/v1/things']]);
  });

  it('needs an admission of its sender from 64 KiB and one byte on', async () => {
    fault = new Refusal(401, 'Who are you?');
    expect((await postJson(`${sample.url}/v1/things`, jsonOf(MOST))).status).toBe(200);
    expect((await postJson(`${sample.url}/v1/things`, jsonOf(MOST + 1))).status).toBe(401);
  });

  it.each([
    ['announced', 'Content-Length: 9000000', jsonOf(MOST + 1)],
    ['in chunks', 'Transfer-Encoding: chunked', `${(MOST + 1).toString(16)}\r\n${jsonOf(MOST + 1)}\r\n`],
  ])('is refused before it was sent completely: %s', async (_how, header, beginning) => {
    fault = new Refusal(401, 'Who are you?', { challenge: 'Bearer' });
    const head = ['POST /v1/nope HTTP/1.1', 'Host: a', 'Content-Type: application/json', header];
    const socket = connect(sample.port, '127.0.0.1', () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n${beginning}`),
    );
    const [answer] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 401 [^]*Connection: close[^]*WWW-Authenticate: Bearer/);
  });

  it('is answered 500 when the admission of its sender fails by a fault of ours', async () => {
    fault = new Error('db.internal is away');
    const answer = await postJson(`${sample.url}/v1/things`, jsonOf(1_000_000));
    expect([answer.status, await answer.text()]).toEqual([500, expect.not.stringContaining('db.internal')]);
  });
});

describe('bodies whose senders are not known yet and that do not go on', () => {
  it('leave room for others: when they hold a quarter of the bytes, the oldest is answered 503', async () => {
    const sample = await startSampleApp({
      bodies: { maxBytes: LARGEST_BODY, admitLongBody: () => Promise.resolve('ada') },
      inFlight: { maxRequests: 100, maxBytes: 1_000_000 },
    });
    const head = ['POST /v1/things HTTP/1.1', 'Host: a', 'Content-Type: application/json'];
    const unfinished = `${head.join('\r\n')}\r\nContent-Length: 60000\r\n\r\n${' '.repeat(50_000)}`;
    const senders = Array.from({ length: 30 }, () => connect(sample.port, '127.0.0.1'));
    const [oldest] = senders as [Socket];
    const begun = once(sample.app.getHttpServer() as Server, 'request') as Promise<[IncomingMessage]>;
    oldest.write(unfinished);
    const [{ socket: read }] = await begun;
    while (read.bytesRead < unfinished.length) await sleep(5);
    const answered = once(oldest, 'data') as Promise<[Buffer]>;
    for (const sender of senders.slice(1)) sender.write(unfinished);
    expect(String((await answered)[0])).toMatch(/^HTTP\/1\.1 503 [^]*Connection: close[^]*Retry-After: 1/);
    const body = JSON.stringify({ name: 'x'.repeat(300_000) });
    expect((await postJson(`${sample.url}/v1/things`, body)).status).toBe(200);
    for (const sender of senders) sender.destroy();
    await sample.close();
  });
});

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends a chunked body, and goes on sending after an early answer, as simple clients do. */
function stream(port: number, pieces: (string | Buffer)[], coding = 'chunked'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Transfer-Encoding': coding };
    const options = { host: '127.0.0.1', port, method: 'POST', path: '/v1/things', headers };
    const outgoing = request(options, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve({ status: response.statusCode, headers: response.headers, body }));
    });
    outgoing.on('error', reject);
    const sendNext = (): void => {
      const piece = pieces.shift();
      if (piece === undefined) outgoing.end();
      else outgoing.write(piece, () => setImmediate(sendNext));
    };
    sendNext();
  });
}
