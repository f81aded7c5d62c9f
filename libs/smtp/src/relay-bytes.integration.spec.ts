import { randomInt } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { answerAt, type SmtpSink } from '@posthorn/testing';
import { ENVELOPE, MESSAGE, scripted, sinkWith, transportTo, withLogin } from './relays.fixture.ts';
import type { SmtpEnvelope } from './relays/smtp-envelope.ts';
import type { SmtpTransport } from './smtp-transport.ts';

async function sinkAndTransport(): Promise<[SmtpSink, SmtpTransport]> {
  const sink = await sinkWith();
  return [sink, transportTo(sink.url, { maxConnections: 4 })];
}

/** Lines that stuffing could get wrong: made of dots, ends of lines and bytes of every kind. */
function randomMessage(): Buffer {
  const pieces = [
    '.',
    '..',
    '\r\n',
    '\r\n.',
    '\r\n.\r\n',
    '\r\n..\r\n',
    'x',
    '\0',
    '\xff',
    'QUIT\r\n',
    ' '.repeat(900),
  ];
  const text = Array.from({ length: randomInt(0, 400) }, () => pieces[randomInt(pieces.length)]).join('');
  return Buffer.from(`${text}\r\n`, 'latin1');
}

describe('the bytes of a message', () => {
  it('arrive exactly as they were given, including dots', async () => {
    const [sink, transport] = await sinkAndTransport();
    const special = ['.\r\n', '..\r\n', '\r\n.\r\n', '.\r\n.\r\n..\r\n', '\r\n'].map((text) =>
      Buffer.from(text),
    );
    const messages = [...special, ...Array.from({ length: 200 }, randomMessage)];
    for (const [index, message] of messages.entries()) {
      const { kind } = await transport.send(ENVELOPE, message);
      expect(kind).toBe('accepted');
      expect(sink.messages[index]?.raw.equals(message)).toBe(true);
    }
  });

  it('arrive whole when there are many of them', async () => {
    const [sink, transport] = await sinkAndTransport();
    const message = Buffer.alloc(80 * 100_000, `.${'y'.repeat(77)}\r\n`);
    expect((await transport.send(ENVELOPE, message)).kind).toBe('accepted');
    expect(sink.messages[0]?.raw.equals(message)).toBe(true);
  });

  it('are declared as 8BITMIME and with their size', async () => {
    const server = await scripted(undefined, ['8BITMIME', 'SIZE 100000']);
    const transport = transportTo(server.url);
    await transport.send(ENVELOPE, Buffer.from('ä\r\n'));
    await transport.send(ENVELOPE, MESSAGE);
    expect(server.commands.filter((command) => command.startsWith('MAIL'))).toEqual([
      'MAIL FROM:<a@example.com> BODY=8BITMIME SIZE=4',
      `MAIL FROM:<a@example.com> SIZE=${MESSAGE.length}`,
    ]);
  });
});

describe('reports', () => {
  const envelope: SmtpEnvelope = {
    ...ENVELOPE,
    reports: { envelopeId: 'trs_01h455vb4pex5vsknk084sn02q', of: ['FAILURE', 'DELAY'] },
  };

  async function saidTo(extensions: string[]): Promise<string[]> {
    const server = await scripted(undefined, extensions);
    const transport = transportTo(server.url);
    expect((await transport.send(envelope, MESSAGE)).kind).toBe('accepted');
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    return server.commands.filter((command) => /^(MAIL|RCPT)/.test(command));
  }

  const PLAIN = ['MAIL FROM:<a@example.com>', 'RCPT TO:<b@example.com>'];

  it.each([[['DSN']], [['PIPELINING', 'DSN', '8BITMIME']]])(
    'are asked for, and for whom, where %j is offered',
    async (extensions) => {
      expect(await saidTo(extensions)).toEqual([
        'MAIL FROM:<a@example.com> RET=HDRS ENVID=trs_01h455vb4pex5vsknk084sn02q',
        'RCPT TO:<b@example.com> NOTIFY=FAILURE,DELAY',
        ...PLAIN,
      ]);
    },
  );

  it('are not requested if the relay does not offer them', async () => {
    expect(await saidTo(['PIPELINING', 'XDSN'])).toEqual([...PLAIN, ...PLAIN]);
  });
});

describe('a non-ASCII address', () => {
  const envelope = { from: 'a@example.com', to: 'jürgen@example.com' };

  it('is sent if SMTPUTF8 is offered', async () => {
    const [sink, transport] = await sinkAndTransport();
    expect((await transport.send(envelope, MESSAGE)).kind).toBe('accepted');
    expect(sink.messages[0]?.to).toEqual(['jürgen@example.com']);
  });

  it('needs SMTPUTF8 even if it is only in a header; ASCII messages never request it', async () => {
    const server = await scripted(undefined, ['8BITMIME', 'SMTPUTF8']);
    const transport = transportTo(server.url);
    await transport.send(ENVELOPE, Buffer.from('Reply-To: ä@example.com\r\n\r\nhello\r\n'));
    await transport.send(ENVELOPE, MESSAGE);
    await transport.send(envelope, MESSAGE);
    expect(server.commands.filter((command) => command.startsWith('MAIL'))).toEqual([
      'MAIL FROM:<a@example.com> BODY=8BITMIME SMTPUTF8',
      'MAIL FROM:<a@example.com>',
      'MAIL FROM:<a@example.com> SMTPUTF8',
    ]);
  });

  it('is refused before anything is sent if SMTPUTF8 is not offered', async () => {
    const server = await scripted(undefined, ['XSMTPUTF8']);
    const transport = transportTo(server.url);
    expect(await transport.send(envelope, MESSAGE)).toEqual({
      kind: 'refused',
      stage: 'rcpt',
      reply: { code: 550, enhancedCode: '5.6.7', text: expect.stringContaining('SMTPUTF8') },
      unasked: true,
    });
    expect(server.commands.join()).not.toContain('MAIL');
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
  });
});

describe('a relay with TLS and AUTH', () => {
  const tls = { rejectUnauthorized: false };

  async function sinkWithTls(): Promise<[SmtpSink, string]> {
    const sink = await sinkWith({ starttls: true, auth: true });
    return [sink, withLogin(sink)];
  }

  it('is used over STARTTLS, with authentication', async () => {
    const [sink, url] = await sinkWithTls();
    const transport = transportTo(url, { tls, tlsPolicy: 'required' });
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect((await transport.send(ENVELOPE, MESSAGE)).kind).toBe('accepted');
    expect(sink.count).toBe(2);
  });

  it('is refused at STARTTLS if its certificate is not trusted', async () => {
    const [sink, url] = await sinkWithTls();
    expect(await transportTo(url).send(ENVELOPE, MESSAGE)).toMatchObject({
      kind: 'broken',
      stage: 'starttls',
    });
    expect(sink.count).toBe(0);
  });

  it('must offer STARTTLS when TLS is required', async () => {
    const server = await scripted(answerAt('starttls', { reply: '502 5.5.1 what' }));
    const transport = transportTo(server.url, { tlsPolicy: 'required' });
    expect(await transport.send(ENVELOPE, MESSAGE)).toMatchObject({ kind: 'refused', stage: 'starttls' });
  });

  it('may refuse the credentials', async () => {
    const sink = await sinkWith({ auth: true, script: answerAt('auth', { reply: '535 5.7.8 wrong' }) });
    expect(await transportTo(withLogin(sink)).send(ENVELOPE, MESSAGE)).toMatchObject({
      kind: 'refused',
      stage: 'auth',
      reply: { code: 535 },
    });
  });
});
