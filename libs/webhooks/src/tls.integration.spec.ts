import { type AddressInfo, createServer, type Server } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { type CertifiedKey, HostileReceiver, TestAuthority } from '@posthorn/testing';
import {
  BODY,
  expectNoSockets,
  failed,
  HASTY_MS,
  LOOPBACK,
  namesIn,
  PATIENT_MS,
  SLACK_MS,
} from './loopback.fixture.ts';
import type { PostResult } from './post-request.ts';
import { WebhookClient } from './webhook-client.ts';

const NAME = 'receiver.example';
const names = [`DNS:${NAME}`, 'IP:127.0.0.1'];

const authority = TestAuthority.create();
const client = new WebhookClient({
  policy: { ...LOOPBACK, allowsHttp: false },
  lookUp: namesIn({ [NAME]: ['127.0.0.1'], 'other.example': ['127.0.0.1'] }),
  authorities: [authority.certificate],
});
const receivers: HostileReceiver[] = [];
afterEach(() => expectNoSockets(client, ...receivers));
afterAll(async () => {
  client.close();
  authority.close();
  await Promise.all(receivers.map((receiver) => receiver.close()));
});

/** With the names that clients asked for. */
async function start(tls: TlsOptions): Promise<HostileReceiver & { asked: (string | false)[] }> {
  const asked: (string | false)[] = [];
  const receiver = await HostileReceiver.start({ tls });
  receiver['server'].on('secureConnection', (socket: TLSSocket) => asked.push(socket.servername ?? false));
  receivers.push(receiver);
  return Object.assign(receiver, { asked });
}

const post = (url: string, deadlineMs = PATIENT_MS): Promise<PostResult> =>
  client.post({ url, headers: {}, body: BODY, deadlineMs });

describe('over TLS', () => {
  it('W7: sends the name of the URL as SNI and Host, although the address was resolved before', async () => {
    const receiver = await start(authority.issue({ names }));
    for (let n = 0; n < 3; n += 1)
      expect(await post(receiver.url('/ok', NAME))).toMatchObject({ status: 200 });
    expect(receiver.asked).toEqual([NAME]);
    expect(receiver.requests.map(({ headers }) => headers['host'])).toEqual(
      Array.from({ length: 3 }, () => `${NAME}:${receiver.port}`),
    );
  });

  it('verifies an IP address against the certificate, and sends no SNI for it', async () => {
    const receiver = await start(authority.issue({ names }));
    expect(await post(receiver.url('/ok'))).toMatchObject({ status: 200 });
    expect(receiver.asked).toEqual([false]);
  });

  it.each([
    ['has expired', /expired/, () => authority.issue({ names, hasExpired: true })],
    ['vouches for itself', /self-signed/, () => authority.selfSigned({ names })],
    ['is for another name', /another name/, () => authority.issue({ names: ['DNS:else.example'] })],
    ['is from nobody known', /not from an authority/, () => strangersCertificate()],
  ])('a receiver whose certificate %s gets nothing', async (_case, reason, issue) => {
    const receiver = await start(issue());
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      expect(await post(receiver.url('/ok', NAME))).toMatchObject(failed('tls', reason));
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
    expect(receiver.requests).toEqual([]);
  });

  it.each<[string, RegExp, TlsOptions]>([
    ['asks for a certificate of ours', /asks for a client certificate/, { requestCert: true }],
    [
      'asks for one in TLS 1.2',
      /refused the handshake; perhaps it asks for a client certificate/,
      { requestCert: true, maxVersion: 'TLSv1.2' },
    ],
    [
      'knows only old versions',
      /supports no version of TLS from 1\.2 on/,
      { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
    ],
    ['speaks only HTTP/2', /supports HTTP\/2 only, not HTTP\/1\.1/, { ALPNProtocols: ['h2'] }],
  ])('says that a receiver %s', async (_case, reason, options) => {
    const receiver = await start({ ...authority.issue({ names }), ...options });
    expect(await post(receiver.url('/ok', NAME))).toMatchObject(failed('tls', reason));
  });

  it.each([
    ['/a-gigabyte', { status: 200, body: 'x'.repeat(4096) }],
    ['/head-then-reset', { status: 200, body: 'no' }],
    ['/reset', failed('connect', 'without an answer')],
    ['/reset-after-3-bytes', failed('protocol', /./)],
    ['/silent', failed('timeout', 'after the request was sent')],
  ])('%s is what it is without', async (path, expected) => {
    const receiver = await start(authority.issue({ names }));
    expect(await post(receiver.url(path, NAME), HASTY_MS)).toMatchObject(expected);
  });

  it('limits how much a receiver may send, too', async () => {
    const receiver = await start(authority.issue({ names }));
    const url = receiver.url('/blank-lines-without-end', NAME);
    const result = await post(url);
    expect(result).toMatchObject(failed('protocol', /too many bytes/));
  });

  it('gives up a handshake that never ends at the deadline', async () => {
    const receiver = await HostileReceiver.start();
    receivers.push(receiver);
    const result = await post(receiver.url('/ok', NAME, 'https'), HASTY_MS);
    expect(result).toMatchObject(failed('timeout', 'during the TLS handshake'));
    expect(result.durationMs).toBeLessThan(HASTY_MS + SLACK_MS);
  });

  it.each([
    ['speaks no TLS', 'HTTP/1.1 400 Bad Request\r\n\r\n', /does not speak TLS at this port/],
    ['hangs up', '', /closed the connection during/],
  ])('a receiver that %s is one without TLS', async (_case, bytes, reason) => {
    const server = await plainServer(bytes);
    const { port } = server.address() as AddressInfo;
    expect(await post(`https://${NAME}:${port}/`)).toMatchObject(failed('tls', reason));
    await new Promise((resolve) => server.close(resolve));
  });
});

function strangersCertificate(): CertifiedKey {
  const stranger = TestAuthority.create();
  const issued = stranger.issue({ names });
  stranger.close();
  return issued;
}

/** Says the bytes to whoever has said something, and hangs up. */
async function plainServer(bytes: string): Promise<Server> {
  const server = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
