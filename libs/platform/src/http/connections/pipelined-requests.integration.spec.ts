import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { MAX_PIPELINED } from './pipelined-requests.ts';
import { heldRequests, type SampleApp, startSampleApp, untilHeld } from '../sample-app.fixture.ts';

const requestOf = (path: string, connection = 'keep-alive'): string =>
  `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\n\r\n`;

describe('Pipelined requests on a connection', () => {
  let sample: SampleApp;
  beforeAll(async () => {
    sample = await startSampleApp();
  });
  afterAll(() => sample.close());

  async function send(requests: string): Promise<Socket> {
    const socket = connect({ port: sample.port, host: '127.0.0.1', allowHalfOpen: true });
    await once(socket, 'connect');
    socket.write(requests);
    return socket;
  }

  it('are all answered up to the limit, repeatedly on one connection', async () => {
    const some = requestOf('/v1/page').repeat(MAX_PIPELINED);
    const socket = await send(`${requestOf('/v1/held')}${some}`);
    await untilHeld(1);
    heldRequests.pop()!();
    let answers = '';
    socket.setEncoding('utf8').on('data', (piece: string) => (answers += piece));
    const answered = (): number => answers.split('HTTP/1.1 200 OK').length - 1;
    while (answered() < MAX_PIPELINED + 1) await once(socket, 'data');
    socket.write(
      `${requestOf('/v1/held')}${some}${requestOf('/v1/page', 'close')}`.replace(requestOf('/v1/page'), ''),
    );
    await untilHeld(1);
    heldRequests.pop()!();
    await once(socket, 'end');
    expect(answered()).toBe(2 * (MAX_PIPELINED + 1));
    socket.destroy();
  });

  it('learn together that the caller has left, with no more listeners than one needs', async () => {
    const held = async (count: number): Promise<Socket> => {
      const socket = await send(requestOf('/v1/held-until-gone').repeat(count));
      await untilHeld(count);
      return socket;
    };
    const answersOn = async (socket: Socket): Promise<unknown[]> =>
      [...(await text(socket.end())).matchAll(/\{"isGone".*?\}/g)].map(
        ([answer]) => JSON.parse(answer) as unknown,
      );
    const one = await held(1);
    heldRequests.pop()!();
    await once(one, 'readable');
    const [alone] = await answersOn(one);
    const many = await held(20);
    for (const release of heldRequests.splice(0).slice(0, 2)) release();
    await once(many, 'readable');
    const gone = { isGone: true, listeners: expect.any(Number) };
    expect(await answersOn(many)).toEqual([alone, alone, ...Array.from({ length: 18 }, () => gone)]);
    expect(alone).toMatchObject({ isGone: false });
  });

  it('are not processed behind an answer that closes it: nobody would ever see theirs', async () => {
    const socket = await send(`GET /v1/page HTTP/1.1\r\n\r\n${requestOf('/v1/held')}`);
    const answers = await text(socket);
    expect(answers).toMatch(/^HTTP\/1.1 400 [^]*\r\nConnection: close\r\n[^]*The header `Host` is missing/);
    expect(heldRequests).toEqual([]);
    socket.destroy();
  });

  it('close it when they exceed the limit, and no other connection', async () => {
    const other = await send(requestOf('/v1/held', 'close'));
    await untilHeld(1);
    const socket = await send(`${requestOf('/v1/held')}${requestOf('/v1/page').repeat(1_000)}`);
    // With or without an error, depending on how much was read.
    await new Promise((closed) => socket.on('error', () => undefined).once('close', closed));
    for (const release of heldRequests.splice(0)) release();
    expect(await text(other)).toMatch(/^HTTP\/1.1 200 OK/);
    other.destroy();
  });
});
