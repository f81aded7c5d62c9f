import { once } from 'node:events';
import {
  type ClientRequest,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import type { Express } from 'express';
import { HttpSettings } from '../settings/connection-settings.ts';
import type { ErrorRenderer } from './answers/error-answer.ts';
import { UNREAD } from './message-classes.ts';
import {
  heldRequests,
  MORE_THAN_A_CONNECTION_HOLDS as LARGE,
  postJson,
  startSampleApp,
  type SampleApp,
  untilHeld,
} from './sample-app.fixture.ts';

const prototypeOf = (message: object): unknown => Object.getPrototypeOf(message);

describe('an app made by createHttpApp', () => {
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp();
  });
  afterAll(() => sample.close());

  const get = (path: string, init?: RequestInit): Promise<Response> => fetch(sample.url + path, init);

  it('answers JSON with its length, security headers, and neither ETag nor X-Powered-By', async () => {
    const response = await postJson(`${sample.url}/v1/things`, '{"name":"ö"}');
    expect([response.status, await response.text()]).toEqual([200, '{"name":"ö","size":0}']);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'content-length': '22',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'strict-transport-security': 'max-age=31536000',
    });
    expect(response.headers.has('etag')).toBe(false);
    expect(response.headers.has('x-powered-by')).toBe(false);
  });

  it.each([
    [true, 'http://localhost:3000', 'max-age=31536000'],
    [false, 'https://api.example.com', null],
  ])(
    'tells browsers to use TLS if it is reached over TLS itself (%j), not if %s is',
    async (isSecure, PUBLIC_URL, told) => {
      const settings = Object.assign(new HttpSettings(), { PUBLIC_URL });
      const elsewhere = await startSampleApp({ settings, isSecure });
      const { headers } = await fetch(`${elsewhere.url}/v1/page`);
      await elsewhere.close();
      expect(headers.get('strict-transport-security')).toBe(told);
    },
  );

  it.each([
    [{}, 'timeout=130'],
    [{ HTTP_KEEP_ALIVE_TIMEOUT_MS: 620_000 }, 'timeout=620'],
  ])('keeps idle connections open for as long as the settings say: %j', async (given, keepAlive) => {
    const settings = Object.assign(new HttpSettings(), given);
    const patient = await startSampleApp({ settings });
    const { headers } = await fetch(`${patient.url}/v1/page`);
    await patient.close();
    expect(headers.get('keep-alive')).toBe(keepAlive);
  });

  it.each([
    ['/v1/replayed', 'application/json; charset=utf-8', '{"b":1,  "a":2}'],
    ['/v1/page', 'text/html; charset=utf-8', '<p>ö</p>'],
  ])('sends the body of %s unchanged', async (path, type, text) => {
    const response = await get(path);
    expect([response.headers.get('content-type'), await response.text()]).toEqual([type, text]);
  });

  it('creates requests and responses with the prototypes of Express, so that Express does not have to change them', async () => {
    const { request, response } = sample.app.getHttpAdapter().getInstance() as Express;
    const made: unknown[] = [];
    const server = sample.app.getHttpServer() as Server;
    server.prependOnceListener('request', (...messages: object[]) => made.push(...messages.map(prototypeOf)));
    expect((await get('/v1/page')).status).toBe(200);
    expect([made[0] === request, made[1] === response]).toEqual([true, true]);
  });

  it('answers bytes', async () => {
    const response = await get('/v1/pixel');
    expect(response.headers.get('content-type')).toBe('image/gif');
    expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([1, 2, 255]);
  });

  it.each(['my-id_1.2', 'a'.repeat(128)])('keeps the well-formed request id %s', async (requestId) => {
    const response = await get('/v1/things/1', { headers: { 'X-Request-Id': requestId } });
    expect(response.headers.get('x-request-id')).toBe(requestId);
  });

  it.each(['a b', 'a'.repeat(129), 'x;y', 'a, b'])(
    'replaces the request id %j by its own',
    async (requestId) => {
      const response = await get('/nowhere', { headers: { 'X-Request-Id': requestId } });
      expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('writes one line for each request, with its route instead of its ids', async () => {
    const requestId = 'line-1';
    await get('/v1/things/trs_123?token=x', { headers: { 'X-Request-Id': requestId } });
    const lines = sample.lines.filter((line) => line['requestId'] === requestId);
    expect(lines).toMatchObject([{ method: 'GET', route: '/v1/things/:id', status: 200, msg: 'request' }]);
    expect(typeof lines[0]?.['durationMs']).toBe('number');
    expect(JSON.stringify(lines)).not.toMatch(/trs_123|token/);
  });

  it.each([1, 100_000])(
    'names the request in what is logged of it when it had a body of %d bytes',
    async (size) => {
      const requestId = `fault-with-body-${size}`;
      await postJson(`${sample.url}/v1/fails`, `{"name":"${'x'.repeat(size)}"}`, {
        'X-Request-Id': requestId,
      });
      const logged = sample.lines.filter((line) => line['requestId'] === requestId);
      expect(logged).toMatchObject([{ msg: 'a request failed' }, { msg: 'request', status: 500 }]);
    },
  );

  it.each(['/v1/fails', '/v1/fails-in-nest'])(
    'shows nothing internal when %s goes wrong, and logs no secret',
    async (path) => {
      const requestId = `fault-${path.length}`;
      const response = await get(path, { headers: { 'X-Request-Id': requestId } });
      const body: unknown = await response.json();
      expect(body).toEqual({
        statusCode: 500,
        error: 'Internal Server Error',
        message: expect.stringMatching(/^Something went wrong on our side/),
      });
      const logged = sample.lines.filter((line) => line['requestId'] === requestId);
      expect(logged).toMatchObject([{ level: 'error', err: { stack: expect.any(String) } }, { status: 500 }]);
      expect(JSON.stringify([body, logged])).not.toMatch(/hunter2|jane|phk_abc123/);
    },
  );

  it.each([
    [
      '/v1/refuses',
      400,
      {
        error: 'Bad Request',
        message: '`from` is not verified',
        allowedEmails: ['a@example.com'],
        allowedDomains: ['example.com'],
        docsUrl: 'https://mail.example.com/docs/errors/unverified-sender',
      },
      {},
    ],
    ['/v1/limited', 429, { error: 'Too Many Requests', message: 'Too fast' }, { 'retry-after': '3' }],
    [
      '/v1/away',
      503,
      { error: 'Service Unavailable', message: 'The database does not answer' },
      { 'retry-after': '1' },
    ],
    ['/v1/forbidden', 403, { error: 'Forbidden', message: 'Forbidden resource' }, {}],
    ['/v1/nope?secret=1', 404, { error: 'Not Found', message: 'There is nothing at /v1/nope' }, {}],
    [
      '/v1/things',
      405,
      { error: 'Method Not Allowed', message: 'GET is not allowed here; use POST' },
      { allow: 'POST' },
    ],
    [
      '/v1/things/big',
      405,
      { error: 'Method Not Allowed', message: 'GET is not allowed here; use POST' },
      { allow: 'POST' },
    ],
  ])('answers %s with %i and exactly the error body', async (path, statusCode, body, headers) => {
    const response = await get(path);
    expect(response.status).toBe(statusCode);
    expect(await response.json()).toEqual({ statusCode, ...body });
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': expect.any(String),
      ...headers,
    });
  });

  it.each([
    ['DELETE', '/v1/things/1', 'GET, HEAD'],
    ['PATCH', '/v1/things/1/cancel', 'POST'],
    ['OPTIONS', '/v1/things', 'POST'],
    ['POST', '/health/live', 'GET, HEAD'],
  ])('answers 405 with the allowed methods to %s %s', async (method, path, allow) => {
    const response = await get(path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  });

  it('answers 405 to a fixed path in any letter case, or with a slash at the end, before a path with a parameter', async () => {
    for (const path of ['/v1/things/big', '/V1/Things/BIG', '/v1/things/big/']) {
      const { status, headers } = await get(path);
      expect([path, status, headers.get('allow')]).toEqual([path, 405, 'POST']);
    }
  });

  it('passes on an invalid percent-encoding in a path unchanged', async () => {
    for (const id of ['%FF', '%zz', '100%', '%E0%A4%A']) {
      const response = await get(`/v1/things/${id}?q=%zz`);
      expect([response.status, await response.json()]).toEqual([200, { id }]);
    }
    expect(await (await get('/v1/things/a%20b')).json()).toEqual({ id: 'a b' });
  });

  it('sends WWW-Authenticate with a 401 if the refusal has a challenge', async () => {
    const guarded = await postJson(`${sample.url}/v1/things/guarded`, '{}');
    expect([guarded.status, guarded.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
    const signedOut = await get('/v1/signed-out');
    expect([signedOut.status, signedOut.headers.get('www-authenticate')]).toEqual([401, null]);
  });

  it('answers HEAD as GET, without the body', async () => {
    const response = await get('/v1/things/1', { method: 'HEAD' });
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      200,
      '10',
      '',
    ]);
  });
});

describe('an app whose answers are not read', () => {
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp({ inFlight: { maxRequests: 2, maxBytes: 2 ** 30 } });
  });
  afterAll(() => sample.close());

  it('does not count unread answers as requests in flight, and limits the time of their connections', async () => {
    const server = sample.app.getHttpServer() as Server;
    const answers: ServerResponse[] = [];
    const collect = (_request: IncomingMessage, response: ServerResponse): void =>
      void answers.push(response);
    server.on('request', collect);
    const idle = connect(sample.port, '127.0.0.1').pause();
    // The second answer waits behind the first, which is not read.
    idle.write('GET /v1/large HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
    while (answers.length < 2 || answers.some(({ writableEnded }) => !writableEnded)) await sleep(5);
    server.off('request', collect);
    expect(answers.map(({ writableFinished }) => writableFinished)).toEqual([false, false]);
    expect(answers[0]!.req.socket.timeout).toBe(120_000);
    const held = [1, 2].map(() => fetch(`${sample.url}/v1/held`));
    await untilHeld(2);
    for (const release of heldRequests.splice(0)) release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    idle.destroy();
  });

  it('does not track an answer that is written at once', async () => {
    const watched: boolean[] = [];
    const server = sample.app.getHttpServer() as Server;
    server.prependOnceListener('request', (_request: IncomingMessage, response: ServerResponse) => {
      response.once(UNREAD, () => watched.push(true)).once('finish', () => watched.push(false));
    });
    expect((await fetch(`${sample.url}/v1/page`)).status).toBe(200);
    expect(watched).toEqual([false]);
  });

  it('closes the connection of the oldest unread answer when there are more than may be in flight', async () => {
    const idle = [await leaveAnswer(sample), await leaveAnswer(sample), await leaveAnswer(sample)];
    await hangsUpOnFirst(idle);
  });

  it('closes the connection of the oldest unread answer when they have more bytes than may be in flight', async () => {
    const few = await startSampleApp({ inFlight: { maxRequests: 100, maxBytes: 2.5 * LARGE } });
    const idle = [await leaveAnswer(few), await leaveAnswer(few), await leaveAnswer(few)];
    await hangsUpOnFirst(idle);
    await few.close();
  });

  /** Requests a large answer and does not read it. */
  async function leaveAnswer({ app, port }: SampleApp): Promise<Socket> {
    const idle = connect(port, '127.0.0.1').pause();
    const answered = once(app.getHttpServer() as Server, 'request') as Promise<
      [IncomingMessage, ServerResponse]
    >;
    idle.on('error', () => undefined).write('GET /v1/large HTTP/1.1\r\nHost: a\r\n\r\n');
    const [, response] = await answered;
    while (!response.writableEnded) await sleep(5);
    return idle;
  }

  async function hangsUpOnFirst(idle: readonly Socket[]): Promise<void> {
    // Reads what had arrived, because only then the end is noticed.
    await once(idle[0]!.resume(), 'close');
    expect(idle.map(({ destroyed }) => destroyed)).toEqual([true, false, false]);
    for (const socket of idle) socket.destroy();
  }
});

describe('an app with low limits of requests in flight', () => {
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp({ inFlight: { maxRequests: 2, maxBytes: 1_000 } });
  });
  afterAll(() => sample.close());

  it('answers 503 at once above the limit of requests, but still answers health checks', async () => {
    const held = [1, 2].map(() => fetch(`${sample.url}/v1/held`));
    await untilHeld(2);
    const response = await postJson(`${sample.url}/v1/things`, '{"name":"a"}');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await response.json()).toMatchObject({ statusCode: 503, error: 'Service Unavailable' });
    for (const path of ['/health/live', '/Health/LIVE'])
      expect((await fetch(sample.url + path)).status).toBe(200);
    for (const release of heldRequests.splice(0)) release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await postJson(`${sample.url}/v1/things`, '{"name":"a"}')).status).toBe(200);
  });

  it('renders that 503 with the error renderer of the app', async () => {
    const renderError: ErrorRenderer = (response, { statusCode, message }) => {
      response.setHeader('Content-Type', 'text/html; charset=utf-8');
      return `<h1>${statusCode}</h1><p>${message}</p>`;
    };
    const pages = await startSampleApp({
      inFlight: { maxRequests: 1, maxBytes: 1_000 },
      errors: { renderError },
    });
    const first = fetch(`${pages.url}/v1/held`);
    await untilHeld(1);
    const refused = await fetch(`${pages.url}/v1/held`);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8']);
    expect(await refused.text()).toMatch(/^<h1>503<\/h1><p>Too many requests are being processed/);
    heldRequests.pop()!();
    expect((await first).status).toBe(200);
    await pages.close();
  });

  it('answers 503 above the limit of bytes, and releases the bytes afterwards', async () => {
    const big = JSON.stringify({ name: 'a', html: 'x'.repeat(2_000) });
    expect((await postJson(`${sample.url}/v1/things`, big)).status).toBe(503);
    const fits = JSON.stringify({ name: 'a', html: 'x'.repeat(900) });
    for (let i = 0; i < 3; i++) expect((await postJson(`${sample.url}/v1/things`, fits)).status).toBe(200);
  });

  it('does not count bytes that are announced but not sent, nor their requests', async () => {
    const idle = [await announce('990'), await announce('10'), await announce('10')];
    const fits = JSON.stringify({ name: 'a', html: 'x'.repeat(900) });
    expect((await postJson(`${sample.url}/v1/things`, fits)).status).toBe(200);
    for (const one of idle) one.destroy();
  });

  it('limits bodies on every path', async () => {
    const big = JSON.stringify({ name: 'x'.repeat(2_000) });
    expect((await postJson(`${sample.url}/health/live`, big)).status).toBe(503);
  });

  it('answers 503 when there are too many requests in flight by the time that a body has arrived', async () => {
    const late = await announce('12');
    const held = [fetch(`${sample.url}/v1/held`), fetch(`${sample.url}/v1/held`)];
    await untilHeld(2);
    const answer = once(late, 'response') as Promise<[IncomingMessage]>;
    late.end('{"name":"a"}');
    const [{ statusCode }] = await answer;
    expect(statusCode).toBe(503);
    for (const release of heldRequests.splice(0)) release();
    expect((await Promise.all(held)).map(({ status }) => status)).toEqual([200, 200]);
    expect((await postJson(`${sample.url}/v1/things`, '{"name":"a"}')).status).toBe(200);
  });

  /** Sends the header of a request whose body does not follow. */
  async function announce(bytes: string): Promise<ClientRequest> {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': bytes };
    const idle = request({
      host: '127.0.0.1',
      port: sample.port,
      method: 'POST',
      path: '/v1/things',
      headers,
    });
    idle.on('error', () => undefined);
    const arrived = once(sample.app.getHttpServer() as Server, 'request');
    idle.flushHeaders();
    await arrived;
    return idle;
  }
});
