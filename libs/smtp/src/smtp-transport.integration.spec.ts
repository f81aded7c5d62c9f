import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { Transmission } from '@posthorn/domain';
import { answerAt, freePort, type SinkScript, type SinkStage } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, open, scripted, transportTo, withLogin } from './relays.fixture.ts';
import { SmtpTransport, type SmtpTransportOptions } from './smtp-transport.ts';

/** Only silence takes so long, however busy the machine is. */
const SHORT_MS = 3_000;
const SHORT = { greetingTimeoutMs: SHORT_MS, socketTimeoutMs: SHORT_MS };
const QUIT = { quitTimeoutMs: 500 };
const MODES = [
  ['one by one', []],
  ['pipelined', ['PIPELINING', 'AUTH PLAIN LOGIN', 'SIZE']],
] as const;
const STAGES = ['greeting', 'ehlo', 'starttls', 'auth', 'mail', 'rcpt', 'data', 'content'] as const;

/** Nothing is heard meanwhile: no timer runs, no socket is read. */
function standStill(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const MIB = 1024 * 1024;
/** Of a slow relay, after each MiB. */
const REST_MS = 150;

/** Much more than the buffers of both sides of a connection. */
const LARGE_MESSAGE = Buffer.from(`${'x'.repeat(1022)}\r\n`.repeat(32 * 1024));

interface SlowRelay {
  readonly url: string;
  contentBytes(): number;
  close(): Promise<void>;
}

/**
 * Takes in content at some megabytes a second. It rests seldom and long: each rest ends late on a busy machine, and many of them would take longer than the
 * whole of a message may.
 */
async function slowRelay(): Promise<SlowRelay> {
  let contentBytes = 0;
  const server = createServer((socket) => void converse(socket).catch(() => undefined));
  async function converse(socket: Socket): Promise<void> {
    socket.write('220 slow\r\n');
    let inContent = false;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      if (inContent) {
        const restsBefore = Math.floor(contentBytes / MIB);
        contentBytes += chunk.length;
        if (Math.floor(contentBytes / MIB) > restsBefore) await sleep(REST_MS);
        if (!chunk.subarray(-3).equals(Buffer.from('.\r\n'))) continue;
        inContent = false;
      }
      if (chunk.toString('latin1').startsWith('DATA')) inContent = true;
      socket.write(inContent ? '354 go on\r\n' : '250 ok\r\n');
    }
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `smtp://127.0.0.1:${port}`,
    contentBytes: () => contentBytes,
    close: async () => {
      server.close();
      await once(server, 'close');
    },
  };
}

interface Attempt {
  readonly script?: SinkScript;
  readonly extensions?: readonly string[];
  readonly message?: Buffer;
  readonly options?: SmtpTransportOptions;
}

async function attempt({
  script,
  extensions = [],
  message = MESSAGE,
  options,
}: Attempt): Promise<Transmission> {
  const server = await scripted(script, ['AUTH PLAIN', ...extensions]);
  return transportTo(withLogin(server), { ...QUIT, ...options }).send(ENVELOPE, message);
}

/** STARTTLS is asked for only where it is offered. */
const offers = (stage: SinkStage, extensions: readonly string[]): string[] =>
  stage === 'starttls' ? [...extensions, 'STARTTLS'] : [...extensions];

describe.each(MODES)('a transmission whose commands go %s', (_mode, extensions) => {
  it('is accepted if the reply to the final dot is 250', async () => {
    expect(await attempt({ extensions })).toEqual({ kind: 'accepted', reply: { code: 250, text: 'queued' } });
  });

  it.each(STAGES)('is refused at %s by the reply to it', async (stage) => {
    for (const [reply, code, enhancedCode] of [
      ['451 4.3.0 later', 451, '4.3.0'],
      ['550 5.0.0 later', 550, '5.0.0'],
      ['421 4.3.2 later', 421, '4.3.2'],
    ] as const) {
      const transmission = await attempt({
        script: answerAt(stage, { reply }),
        extensions: offers(stage, extensions),
      });
      expect(transmission).toEqual({ kind: 'refused', stage, reply: { code, enhancedCode, text: 'later' } });
    }
  });

  it.each(STAGES)(
    'is broken at %s, or unknown after the final dot, when the connection is dropped',
    async (stage) => {
      const transmission = await attempt({
        script: answerAt(stage, { drop: true }),
        extensions: offers(stage, extensions),
      });
      expect(transmission).toEqual(
        stage === 'content'
          ? { kind: 'unknown', error: expect.any(String) }
          : { kind: 'broken', stage, error: expect.any(String) },
      );
    },
  );

  it.each([
    ['silence', {}],
    ['nonsense', { reply: '999 what' }],
  ])('is broken at any stage by %s, and unknown after the final dot', async (_what, answer) => {
    const transmissions = await Promise.all(
      STAGES.map((stage) =>
        attempt({ script: answerAt(stage, answer), extensions: offers(stage, extensions), options: SHORT }),
      ),
    );
    expect(transmissions).toMatchObject(
      STAGES.map((stage) => (stage === 'content' ? { kind: 'unknown' } : { kind: 'broken', stage })),
    );
  });

  it.each(['250-ok\r\n550 5.7.1 no', '550-5.7.1 no\r\n250 ok'])(
    'is unknown when %j answers the final dot: one line says yes and another no',
    async (reply) => {
      const transmission = await attempt({
        script: answerAt('content', { reply }),
        extensions,
        options: SHORT,
      });
      expect(transmission).toMatchObject({ kind: 'unknown' });
    },
  );

  it('is broken at content if the connection is lost before the whole message was written', async () => {
    const message = Buffer.alloc(80 * 400_000, `${'x'.repeat(78)}\r\n`);
    const server = answerAt('data', { reply: '354 go on', drop: true });
    const transmission = await attempt({ script: server, extensions, message });
    expect(transmission).toMatchObject({ kind: 'broken', stage: 'content' });
  });

  it.each(['mail', 'rcpt', 'data'] as const)(
    'ends with an invalid reply at %s: nothing is sent',
    async (stage) => {
      for (const reply of ['25', '2500 ok']) {
        const server = await scripted(answerAt(stage, { reply }), extensions);
        const transport = transportTo(server.url, QUIT);
        expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage });
        expect(server.messages).toEqual([]);
      }
    },
  );

  it('is not accepted by superfluous replies, of which none is to the message', async () => {
    const script: SinkScript = (stage) => {
      if (stage === 'mail') return { reply: '250 ok\r\n250 ok\r\n250 ok' };
      return stage === 'content' ? { reply: '554 5.7.1 no' } : undefined;
    };
    expect(await attempt({ script, extensions })).toEqual({
      kind: 'broken',
      stage: 'data',
      error: 'an invalid reply at data: 250 ok',
    });
  });

  it.each(['250 ok', '220 ok', '334 go on', '355 go on'])(
    'goes no further than DATA where that is answered by %s, since it may be the answer to something else',
    async (reply) => {
      expect(await attempt({ script: answerAt('data', { reply }), extensions })).toMatchObject({
        kind: 'broken',
        stage: 'data',
      });
    },
  );

  it.each(['250 queued', '451 4.7.1 later'])(
    'goes no further than DATA where 354 is followed by %s, which cannot be the answer to the message',
    async (reply) => {
      const script: SinkScript = (stage) => {
        if (stage === 'data') return { reply: `354 go on\r\n${reply}` };
        return stage === 'content' ? { reply: '554 5.7.1 no' } : undefined;
      };
      expect(await attempt({ script, extensions })).toEqual({
        kind: 'broken',
        stage: 'data',
        error: 'the server answered before the message was sent',
      });
    },
  );

  it('is refused by the first negative reply, whatever the replies to later commands', async () => {
    const script: SinkScript = (stage) =>
      stage === 'rcpt' ? { reply: '550 5.1.1 unknown' } : stage === 'content' ? { drop: true } : undefined;
    expect(await attempt({ script, extensions })).toMatchObject({ kind: 'refused', stage: 'rcpt' });
  });
});

describe('a transmission', () => {
  it('is broken at connect if no server is listening', async () => {
    const transport = transportTo(`smtp://127.0.0.1:${await freePort()}`);
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'broken', stage: 'connect' });
  });

  it('is unknown when the last reply is cut off in the middle', async () => {
    const content = Promise.withResolvers<void>();
    const server = await scripted((stage, where) => {
      if (stage === 'content') content.resolve();
      return answerAt('content', {})(stage, where);
    });
    const sent = transportTo(server.url).send(ENVELOPE, MESSAGE);
    await content.promise;
    server.hangUp('250 que');
    expect(await sent).toMatchObject({ kind: 'unknown' });
  });

  it('is broken at any command that is not answered within its timeout, whatever the socket timeout', async () => {
    const stages = ['ehlo', 'mail', 'rcpt', 'data'] as const;
    const options = { commandTimeoutMs: SHORT_MS, socketTimeoutMs: 60_000 };
    expect(
      await Promise.all(stages.map((stage) => attempt({ script: answerAt(stage, {}), options }))),
    ).toEqual(
      stages.map((stage) => ({
        kind: 'broken',
        stage,
        error: `no answer within ${SHORT_MS} ms`,
      })),
    );
  });

  it('waits for the greeting for its own timeout, even if the connect timeout is shorter', async () => {
    const script = answerAt('greeting', { delayMs: SHORT_MS });
    expect(await attempt({ script, options: { connectionTimeoutMs: 1_000 } })).toMatchObject({
      kind: 'accepted',
    });
  });

  it('does not mistake a standstill of this process for silence of the relay', async () => {
    const [written, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const script: SinkScript = (stage) => {
      if (stage !== 'content') return undefined;
      written.resolve();
      return { after: answered.promise };
    };
    const sent = attempt({ script, options: SHORT });
    await written.promise;
    standStill(SHORT_MS + 500);
    setTimeout(answered.resolve, 100);
    expect(await sent).toMatchObject({ kind: 'accepted' });
  });

  it('is accepted over a slow line, though the whole of it takes longer than a silence and a step may', async () => {
    const server = await slowRelay();
    open.push(server);
    const transport = transportTo(server.url, { socketTimeoutMs: SHORT_MS, stepTimeoutMs: SHORT_MS });
    const began = Date.now();
    expect(await transport.send(ENVELOPE, LARGE_MESSAGE)).toMatchObject({ kind: 'accepted' });
    expect(Date.now() - began).toBeGreaterThan(SHORT_MS);
    expect(server.contentBytes()).toBe(LARGE_MESSAGE.length + '.\r\n'.length);
  });

  it('waits longer for the answer to a message than for that to a command', async () => {
    const options = { commandTimeoutMs: SHORT_MS, socketTimeoutMs: 60_000 };
    const transmission = await attempt({ script: answerAt('content', { delayMs: SHORT_MS + 500 }), options });
    expect(transmission).toMatchObject({ kind: 'accepted' });
  });

  it('is unknown if the relay takes longer than the limit of a whole step', async () => {
    const options = { stepTimeoutMs: 4_000, socketTimeoutMs: 60_000 };
    const transmission = await attempt({ script: answerAt('content', {}), options });
    expect(transmission).toEqual({ kind: 'unknown', error: 'not finished within 4000 ms' });
  });

  it('is refused before it begins if it exceeds the SIZE of the relay', async () => {
    const text = `Posthorn: the message has ${MESSAGE.length} bytes, and the relay takes 10 at most`;
    expect(await attempt({ extensions: ['SIZE 10'] })).toEqual({
      kind: 'refused',
      stage: 'mail',
      reply: { code: 552, enhancedCode: '5.3.4', text },
      unasked: true,
    });
  });

  it.each(['SIZE', 'SIZE 0', 'SIZE 10M', 'SIZE 1e3', 'SIZE 1.000.000', 'SIZE -1', 'SIZE 10 20'])(
    'is left to the relay to judge where that says %s, which is no number of bytes',
    async (offer) => {
      expect(await attempt({ extensions: [offer] })).toMatchObject({ kind: 'accepted' });
    },
  );

  it('keeps at most 512 characters of a reply of megabytes', async () => {
    const lines = Array.from({ length: 500 }, () => `550-${'x'.repeat(100)}`).join('\r\n');
    const long = await attempt({ script: answerAt('rcpt', { reply: `${lines}\r\n550 end` }) });
    expect(long.kind === 'refused' && long.reply.text.length).toBe(512);
    const endless = await attempt({ script: answerAt('rcpt', { reply: `550 ${'x'.repeat(5_000_000)}` }) });
    expect(endless).toMatchObject({ kind: 'broken', stage: 'rcpt' });
    expect(JSON.stringify(endless).length).toBeLessThan(1_000);
  });

  it('throws for messages that must not be sent, without connecting', async () => {
    const transport = new SmtpTransport('smtp://127.0.0.1:1');
    await expect(transport.send({ ...ENVELOPE, to: 'a@b\r\nDATA' }, MESSAGE)).rejects.toThrow('`to`');
    await expect(transport.send(ENVELOPE, Buffer.from('a\nb'))).rejects.toThrow('bare CR or LF');
    await transport.close();
    await expect(transport.send(ENVELOPE, MESSAGE)).rejects.toThrow('the transport is closed');
  });
});

describe('credentials', () => {
  /** Sends to a relay, with a user and a password, and gives what became of it and which of the commands were AUTH. */
  async function logInAt(script: SinkScript): Promise<[Transmission, string[]]> {
    const server = await scripted(script);
    const transmission = await transportTo(withLogin(server), QUIT).send(ENVELOPE, MESSAGE);
    return [transmission, server.commands.filter((command) => command.startsWith('AUTH'))];
  }

  it.each([
    ['that knows no EHLO', ['502 5.5.1 what', '250 scripted']],
    ['that has AUTH in its name alone', ['250-smtp-auth.example.org\r\n250 8BITMIME']],
    ['whose offer only begins like AUTH', ['250-scripted\r\n250 AUTHORS 3']],
  ])('are not given to a relay %s, which gets the message without', async (_what, replies) => {
    const said = [...replies];
    const [transmission, logins] = await logInAt((stage) =>
      stage === 'ehlo' ? { reply: said.shift()! } : undefined,
    );
    expect([transmission.kind, logins]).toEqual(['accepted', []]);
  });

  it.each(['AUTH', 'AUTH LOGIN', 'AUTH=LOGIN PLAIN', 'auth plain', 'AUTH XOAUTH2 PLAIN'])(
    'are given where %s is offered',
    async (offer) => {
      const [, logins] = await logInAt(answerAt('ehlo', { reply: `250-scripted\r\n250 ${offer}` }));
      expect(logins).toHaveLength(1);
    },
  );

  it('are not sent to a relay that offers no supported mechanism, and the error says so', async () => {
    const [transmission, logins] = await logInAt(
      answerAt('ehlo', { reply: '250-scripted\r\n250-AUTH XOAUTH2\r\n250 AUTH=NTLM' }),
    );
    expect(transmission).toEqual({
      kind: 'refused',
      stage: 'auth',
      reply: {
        code: 504,
        enhancedCode: '5.5.4',
        text: 'Posthorn: logs in by PLAIN, LOGIN or CRAM-MD5, and the relay offers only XOAUTH2 NTLM',
      },
    });
    expect(logins).toEqual([]);
  });

  it.each(['AUTH PLAIN', 'AUTH LOGIN', 'AUTH CRAM-MD5'])(
    'are in no text, though the relay repeats %s',
    async (offer) => {
      const echo = [
        'joe',
        'hunter2',
        'am9l',
        'aHVudGVyMg==',
        Buffer.from('\0joe\0hunter2').toString('base64'),
      ];
      const server = await scripted(answerAt('auth', { reply: `535 5.7.8 no: ${echo.join(' ')}` }), [offer]);
      const transmission = await transportTo(withLogin(server), QUIT).send(ENVELOPE, MESSAGE);
      expect(transmission).toMatchObject({ kind: 'refused', stage: 'auth', reply: { code: 535 } });
      for (const secret of echo) expect(JSON.stringify(transmission)).not.toContain(secret);
    },
  );
});
