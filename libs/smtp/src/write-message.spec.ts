import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { dotStuffed, writeMessage } from './write-message.ts';

const MIB = 1024 * 1024;

describe('dotStuffed', () => {
  it('doubles a dot at the beginning of a line, and no other', () => {
    const lines = fc.array(fc.stringMatching(/^[.ab ]{0,6}$/), { minLength: 1 });
    fc.assert(
      fc.property(lines, (written) => {
        const message = Buffer.from(written.map((line) => `${line}\r\n`).join(''));
        const expected = written.map((line) => `${line.startsWith('.') ? '.' : ''}${line}\r\n`).join('');
        expect(dotStuffed(message).toString()).toBe(expected);
      }),
    );
  });

  it('takes little more memory than any message', () => {
    const message = Buffer.from('.\r\n'.repeat(2 * MIB));
    const before = process.memoryUsage().heapUsed;
    expect(dotStuffed(message)).toHaveLength(message.length + 2 * MIB);
    // An object for each of its lines was 250 MiB of heap, which a sender does not have.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(64 * MIB);
  });

  it('copies nothing when there is nothing to double', () => {
    const message = Buffer.from('Subject: a.b\r\n\r\nc.\r\n');
    expect(dotStuffed(message)).toBe(message);
  });
});

describe('writeMessage', () => {
  let server: Server | undefined;
  afterEach(() => void server?.close());

  async function pair(): Promise<{ client: Socket; accepted: Socket }> {
    server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const client = connect((server.address() as AddressInfo).port, '127.0.0.1');
    const [accepted] = (await once(server, 'connection')) as [Socket];
    return { client, accepted };
  }

  it('writes a message and its end to the socket at once', async () => {
    const { client, accepted } = await pair();
    let isWritten = false;
    const onProgress = (): void => expect('progress').toBe('none');
    writeMessage(client, Buffer.from('.a\r\nb\r\n'), onProgress, () => (isWritten = true));
    expect(isWritten).toBe(true);
    client.end();
    expect(await text(accepted)).toBe('..a\r\nb\r\n.\r\n');
  });

  it('does not end a large message before the rest was written', async () => {
    const { client, accepted } = await pair();
    const message = Buffer.from(`${'x'.repeat(998)}\r\n`.repeat(32 * 1024));
    expect(message.length).toBeGreaterThan(30 * MIB);
    let [pieces, isWritten] = [0, false];
    const written = new Promise<void>((resolve) => {
      const onProgress = (): unknown => (pieces += 1);
      writeMessage(client, message, onProgress, () => {
        isWritten = true;
        resolve();
      });
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(isWritten).toBe(false);
    const received = text(accepted);
    await written;
    client.end();
    expect(await received).toBe(`${message.toString()}.\r\n`);
    expect(pieces).toBeGreaterThan(100);
  });
});
