import { once } from 'node:events';
import type { Server } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sleep } from '@posthorn/kernel';
import { heldRequests, startSampleApp, type SampleApp, untilHeld } from '../sample-app.fixture.ts';

const HEADERS_TIMEOUT_MS = 100;
/** Node enforces its limits only this often, and a little later. */
const UNTIL_ENFORCED_MS = 5_500;

describe('a connection that was opened in advance', () => {
  let sample: SampleApp;
  let server: Server;
  let unused: Socket;
  /** The side of the server. */
  let accepted: Socket;
  beforeEach(async () => {
    sample = await startSampleApp();
    server = sample.app.getHttpServer() as Server;
    server.headersTimeout = HEADERS_TIMEOUT_MS;
    const accepting = once(server, 'connection') as Promise<[Socket]>;
    unused = connect(sample.port, '127.0.0.1').setEncoding('utf8');
    [accepted] = await accepting;
  });
  afterEach(async () => {
    unused.destroy();
    await sample.close();
  });

  it('is open for a request for longer than the headers of one may take', async () => {
    await sleep(UNTIL_ENFORCED_MS);
    unused.write('GET /v1/things/1 HTTP/1.1\r\nHost: a\r\n\r\n');
    expect(await once(unused, 'data')).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n/)]);
  });

  it('is limited like any other in the time of its headers once they have begun', async () => {
    await sleep(UNTIL_ENFORCED_MS);
    unused.write('GET /v1/th');
    expect(await once(unused, 'data')).toEqual([expect.stringMatching(/^HTTP\/1\.1 408 /)]);
  });

  it('is closed like an idle one, without an answer that a client could take for that of its request', async () => {
    server.keepAliveTimeout = 100;
    let received = '';
    unused.on('data', (text: string) => (received += text));
    await once(unused, 'end');
    expect(received).toBe('');
  });

  it('is not closed while its first request takes longer than an idle one is kept', async () => {
    server.keepAliveTimeout = 4_000;
    // Not a while later: a pause of this process could then be as long as it is kept.
    while (accepted.timeout !== server.keepAliveTimeout) await sleep(5);
    unused.write('GET /v1/held HTTP/1.1\r\nHost: a\r\n\r\n');
    await untilHeld(1);
    await sleep(4_500);
    heldRequests.pop()!();
    expect(await once(unused, 'data')).toEqual([expect.stringMatching(/^HTTP\/1\.1 200 OK\r\n/)]);
  });
});
