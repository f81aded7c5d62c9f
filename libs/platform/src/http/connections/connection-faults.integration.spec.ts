import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { heldRequests, startSampleApp, type SampleApp, untilHeld } from '../sample-app.fixture.ts';

const CONNECT = 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n';

describe('a connection with invalid HTTP', () => {
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp();
  });
  afterAll(() => sample.close());

  it.each([
    ['hello\r\n\r\n', 400, 'Bad Request'],
    ['BREW /v1/things\r\n\r\n', 400, 'Bad Request'],
    ['BREW /v1/nope HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'Not Found'],
    ['BREW /v1/things/%zz HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'Method Not Allowed'],
    ['BREW /v1/things/%ff\xff HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'Method Not Allowed'],
    ['BREW http://a HTTP/1.1\r\nHost: a\r\n\r\n', 404, 'Not Found'],
    ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400, 'Bad Request'],
    ['GET /v1/things/1 HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n', 400, 'Bad Request'],
    ['GET /v1/things/1 HTTP/1.1\r\nConnection: close\r\n\r\n', 400, 'Bad Request'],
    [`GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431, 'Request Header Fields Too Large'],
    [
      'POST /v1/things HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n',
      400,
      'Bad Request',
    ],
    [CONNECT, 405, 'Method Not Allowed'],
    ['GET /v1/nope HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n', 404, 'Not Found'],
  ])('is answered with the error body, example %#', async (sent, statusCode, error) => {
    const [head = '', body = ''] = (await exchange(sample.port, sent)).split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1.1 ${statusCode} `));
    expect(head).toMatch(/X-Request-Id: [0-9a-f-]{36}/);
    expect(JSON.parse(body)).toEqual({ statusCode, error, message: expect.any(String) });
  });

  it.each([
    ['BREW', '/v1/things?q=1'],
    ['get', '/v1/things'],
    ['GETS', 'http://a/V1/things/'],
    ['B', '/v1/things'],
  ])(
    'G2: hears of a method that HTTP does not have which ones the path has: %s %s',
    async (method, target) => {
      const sent = `${method} ${target} HTTP/1.1\r\nHost: a\r\n\r\n`;
      const [head = '', body = ''] = (await exchange(sample.port, sent)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 405 [^]*\r\nAllow: POST\r\n/);
      expect(JSON.parse(body)).toEqual({
        statusCode: 405,
        error: 'Method Not Allowed',
        message: `${method} is not allowed here; use POST`,
      });
    },
  );

  it.each(['http://', 'http://?q=1', 'http://[::1/v1/nope', 'http://[::1', 'x://', '*'])(
    'gets the error body for the target %s',
    async (target) => {
      const sent = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      const [head = '', body = ''] = (await exchange(sample.port, sent)).split('\r\n\r\n');
      expect(head).toMatch(/^HTTP\/1\.1 404 [^]*X-Request-Id: [0-9a-f-]{36}/);
      expect(JSON.parse(body)).toEqual({ statusCode: 404, error: 'Not Found', message: expect.any(String) });
    },
  );

  it('has requests in absolute form routed by their path, whatever host they name', async () => {
    for (const host of ['http://a', 'HTTPS://u:p@b.example:99999', 'http://[::1', 'http://']) {
      const sent = `GET ${host}/v1/things/7?q=1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;
      expect([host, await exchange(sample.port, sent)]).toEqual([
        host,
        expect.stringMatching(/\{"id":"7"\}$/),
      ]);
    }
  });

  it('is closed after HTTP/1.0 in chunks, which a proxy of that version would take for other requests', async () => {
    const chunked =
      'POST /v1/things HTTP/1.0\r\nConnection: keep-alive\r\nContent-Type: application/json\r\n' +
      'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
    const received = await exchange(sample.port, chunked);
    expect(received).toMatch(
      /^HTTP\/1\.1 400 [^]*Connection: close[^]*`Transfer-Encoding`, which HTTP\/1\.0 does not have/,
    );
  });

  it('is still sent the answer to the complete request before the invalid one', async () => {
    const slow = 'GET /v1/slow HTTP/1.1\r\nHost: a\r\n\r\nrubbish\r\n\r\n';
    const received = await exchange(sample.port, slow);
    expect(received.match(/^HTTP\/1\.1 /gm)).toHaveLength(1);
    expect(received).toMatch(/^HTTP\/1\.1 200 OK[^]*Connection: close[^]*\{"slow":true\}$/);
  });

  it('is sent all answers even if the client has closed its side (half-close)', async () => {
    const [held, next] = ['/v1/held', '/v1/things/2'].map(
      (path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`,
    );
    const connected = once(sample.app.getHttpServer() as Server, 'connection');
    const received = exchange(sample.port, `${held}${next}`, { closes: true });
    const [socket] = (await connected) as [Socket];
    await untilHeld(1);
    if (!socket.readableEnded) await once(socket, 'end');
    heldRequests.pop()!();
    expect(await received).toMatch(/^HTTP\/1\.1 200 OK[^]*\{"held":true\}HTTP\/1\.1 200 OK[^]*\{"id":"2"\}$/);
  });

  it('is closed without an answer when the client closes its side without a request', async () => {
    expect(await exchange(sample.port, '', { closes: true })).toBe('');
  });

  it('is closed after a CONNECT even if the client keeps its side open: Node has detached the socket, and nothing else would close it', async () => {
    const server = sample.app.getHttpServer() as Server;
    const connected = once(server, 'connection');
    const client = connect({ port: sample.port, host: '127.0.0.1', allowHalfOpen: true });
    client.resume().write(CONNECT);
    const [socket] = (await connected) as [Socket];
    await once(socket, 'close');
    expect(client.destroyed).toBe(false);
    client.destroy();
  });

  it('is handled without an error when it is reset after a CONNECT', async () => {
    const server = sample.app.getHttpServer() as Server;
    for (let n = 0; n < 20; n += 1) {
      const connected = once(server, 'connection');
      const client = connect(sample.port, '127.0.0.1').on('error', () => undefined);
      client.write(CONNECT, () => client.resetAndDestroy());
      const [socket] = (await connected) as [Socket];
      if (!socket.closed) await new Promise((resolve) => socket.once('close', resolve));
    }
    expect(await exchange(sample.port, CONNECT)).toMatch(/^HTTP\/1\.1 405 /);
  });

  it('is closed at once by a CONNECT while another request is in progress, so that its answer is not taken for that of the CONNECT', async () => {
    const held = 'GET /v1/held HTTP/1.1\r\nHost: a\r\n\r\n';
    expect(await exchange(sample.port, `${held}${CONNECT}`)).toBe('');
    await untilHeld(1);
    heldRequests.pop()!();
  });

  it('G6: is answered 400 when a chunked body is malformed, with the id of its request, whose line has that status', async () => {
    const head =
      'POST /v1/things HTTP/1.1\r\nHost: a\r\nX-Request-Id: torn\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    expect(await exchange(sample.port, `${head}rubbish\r\n`)).toMatch(
      /^HTTP\/1\.1 400 Bad Request[^]*X-Request-Id: torn\r\n/,
    );
    const linesAboutIt = () => sample.lines.filter((line) => line['requestId'] === 'torn');
    while (linesAboutIt().length === 0) await sleep(5);
    expect(linesAboutIt()).toMatchObject([{ msg: 'request', status: 400, cutShort: true }]);
  });

  it('G2: is still sent an answer that did not wait for the body, even if that is malformed', async () => {
    const withoutHost = 'POST /v1/things HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nrubbish\r\n';
    expect(await exchange(sample.port, withoutHost)).toMatch(
      /^HTTP\/1\.1 400 Bad Request[^]*The header `Host` is missing/,
    );
  });
});

/** Sends bytes, closes our side if `closes`, and reads until the server closes its side. */
function exchange(port: number, sent: string, { closes = false } = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => (closes ? socket.end(sent) : socket.write(sent)));
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.on('end', () => socket.end()).on('error', reject);
    socket.on('close', () => resolve(received));
  });
}
