import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { sleep } from '@posthorn/kernel';
import { perSecond } from '@posthorn/domain';
import { TestAuthority } from '@posthorn/testing';
import {
  type Certificate,
  type MailReceiver,
  ReportListener,
  type ReportListenerOptions,
} from './report-listener.ts';

const ADDRESS = 'bounce+token@bounces.example.com';
const LIMITS: ReportListenerOptions['limits'] = {
  allConnections: 10,
  connections: 3,
  recipients: perSecond(1_000, 1_000),
  peerOf: (address) => address,
  messageBytes: 100_000,
  keptBytes: 1_000,
  silenceMs: 60_000,
  sessionMs: 60_000,
};

let listener: ReportListener;
let taken: { sender: string; beginning: string }[];
let refused: string[];
const receive: MailReceiver = ({ sender, beginning }) =>
  Promise.resolve(taken.push({ sender, beginning: beginning.toString() }) > 0);
let port: number;
let clients: Client[];
afterEach(async () => {
  for (const client of clients) client.socket.destroy();
  await listener.close();
});

async function start(change: Partial<ReportListenerOptions> = {}): Promise<void> {
  [taken, refused, clients] = [[], [], []];
  listener = new ReportListener({
    name: 'bounces.example.com',
    limits: LIMITS,
    findReceiver: (address) => Promise.resolve(address === ADDRESS ? receive : undefined),
    onError: () => undefined,
    onRefusal: (reason) => void refused.push(reason),
    ...change,
  });
  port = await listener.listen(0, '127.0.0.1');
}

/** What takes the mail to each address. */
const receivedBy = (receiver: MailReceiver): Partial<ReportListenerOptions> => ({
  findReceiver: () => Promise.resolve(receiver),
});

/** An SMTP client that sends one command at a time and reads the last line of each answer. */
class Client {
  private heard = '';
  private hasEnded = false;

  constructor(readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => (this.heard += chunk.toString()));
    socket.on('close', () => (this.hasEnded = true)).on('error', () => undefined);
  }

  static connect(): Client {
    const client = new Client(connect(port, '127.0.0.1'));
    clients.push(client);
    return client;
  }

  /** The next complete answer; empty: the connection has ended. */
  async answer(): Promise<string> {
    const deadline = performance.now() + 60_000;
    for (;;) {
      const whole = /^(?:\d{3}-.*\r\n)*(\d{3} .*)\r\n/.exec(this.heard);
      if (whole !== null) {
        this.heard = this.heard.slice(whole[0].length);
        return whole[1]!;
      }
      if (this.hasEnded) return '';
      if (performance.now() > deadline) throw new Error(`no answer: ${this.heard}`);
      await sleep(5);
    }
  }

  say(line: string): Promise<string> {
    this.socket.write(`${line}\r\n`);
    return this.answer();
  }

  /** Sends all commands up to RCPT. */
  async begin(recipient = ADDRESS): Promise<string> {
    await this.answer();
    await this.say('EHLO mx.example.net');
    return this.recipient(recipient);
  }

  async recipient(recipient = ADDRESS): Promise<string> {
    await this.say('MAIL FROM:<>');
    return this.say(`RCPT TO:<${recipient}>`);
  }

  /** Reads answers until the connection ends; gives the last of them. */
  async last(): Promise<string> {
    for (let last = ''; ;) {
      const answer = await this.answer();
      if (answer === '') return last;
      last = answer;
    }
  }

  async deliver(mail: string): Promise<string> {
    await this.say('DATA');
    return this.say(`${mail}\r\n.`);
  }
}

/** Waits, since the listener notices the end of a connection a moment later than the client that ended it. */
async function connectOnceThereIsRoom(): Promise<Client> {
  for (;;) {
    const client = Client.connect();
    await client.answer();
    if ((await client.say('EHLO mx.example.net')) !== '') return client;
  }
}

/** A client that has begun a mail. It connects again where this process was suspended meanwhile for as long as a connection may last without one. */
async function connectInMail(): Promise<Client> {
  for (;;) {
    const client = Client.connect();
    await client.answer();
    const commands = ['EHLO mx.example.net', 'MAIL FROM:<>', `RCPT TO:<${ADDRESS}>`, 'DATA'];
    client.socket.write(`${commands.join('\r\n')}\r\n`);
    let answer = '';
    for (const _command of commands) answer = await client.answer();
    if (answer.startsWith('354 ')) return client;
  }
}

function certificateOf(name: string): Certificate {
  const authority = TestAuthority.create();
  const certificate = authority.selfSigned({ names: [`DNS:${name}`] });
  authority.close();
  return certificate;
}

/** Sends STARTTLS. @returns the client over TLS, and the name in the certificate of the server */
async function connectEncrypted(): Promise<{ client: Client; name: string | undefined }> {
  const plain = Client.connect();
  await plain.answer();
  await plain.say('EHLO mx.example.net');
  expect(await plain.say('STARTTLS')).toMatch(/^220 /);
  const socket = connectTls({ socket: plain.socket, rejectUnauthorized: false });
  const client = new Client(socket);
  await once(socket, 'secureConnect');
  return { client, name: socket.getPeerCertificate().subjectaltname };
}

describe('Returned mail', () => {
  it('is accepted for a known address, and answered once it is recorded', async () => {
    await start();
    const client = Client.connect();
    expect(await client.begin()).toMatch(/^250 /);
    expect(await client.deliver('Subject: x\r\n\r\n..dot')).toMatch(/^250 /);
    expect(taken).toEqual([{ sender: '', beginning: 'Subject: x\r\n\r\n.dot\r\n' }]);
    expect(await client.say('QUIT')).toMatch(/^221 /);
  });

  it('is accepted at a domain with other letters than ASCII, whose address arrives in punycode', async () => {
    const address = 'bounce+token@xn--bcher-kva.example';
    await start({ findReceiver: (asked) => Promise.resolve(asked === address ? receive : undefined) });
    const client = Client.connect();
    expect(await client.begin(address)).toMatch(/^250 /);
    expect(await client.deliver('x')).toMatch(/^250 /);
  });

  it('may contain addresses that are not ASCII, without which some servers cannot return an email to such an address', async () => {
    await start();
    const client = Client.connect();
    await client.answer();
    client.socket.write('EHLO mx.example.net\r\n');
    expect(String(await once(client.socket, 'data'))).toMatch(/^250[- ]SMTPUTF8\r$/m);
  });

  it.each(['postmaster@mail_01.example.net', 'reader.@phone.example', 'a..b@phone.example'])(
    'may come from %s, though that is not an address by the standard',
    async (sender) => {
      await start();
      const client = await connectOnceThereIsRoom();
      expect(await client.say(`MAIL FROM:<${sender}>`)).toMatch(/^250 /);
      expect(await client.say(`RCPT TO:<${ADDRESS}>`)).toMatch(/^250 /);
      expect(await client.deliver('x')).toMatch(/^250 /);
      expect(taken).toEqual([{ sender, beginning: 'x\r\n' }]);
    },
  );

  it('may be for the postmaster without a domain', async () => {
    await start({ findReceiver: (asked) => Promise.resolve(asked === 'postmaster' ? receive : undefined) });
    expect(await Client.connect().begin('Postmaster')).toMatch(/^250 /);
  });

  it('is refused for any other address, and a client that tries many is disconnected', async () => {
    await start();
    const client = Client.connect();
    expect(await client.begin('nobody@bounces.example.com')).toBe('550 5.1.1 No such address here');
    expect(await client.say('DATA')).toMatch(/^503 /);
    for (let n = 0; n < 3; n += 1) expect(await client.say('RCPT TO:<x@y.example>')).toMatch(/^550 /);
    expect(await client.say('RCPT TO:<x@y.example>')).toMatch(/^421 4\.7\.0 /);
    expect(await client.answer()).toBe('');
    expect(taken).toEqual([]);
  });

  it('has one recipient, and only the commands that it needs', async () => {
    await start();
    const client = Client.connect();
    await client.begin();
    expect(await client.say('RCPT TO:<other@bounces.example.com>')).toMatch(/^452 /);
    expect(await client.say('AUTH PLAIN AGEAYg==')).toMatch(/^5\d\d /);
    expect(await client.say('STARTTLS')).toMatch(/^5\d\d /);
  });

  it('is buffered only in its beginning, and refused when it is too large', async () => {
    await start();
    const client = Client.connect();
    await client.begin();
    expect(await client.deliver('x'.repeat(50_000))).toMatch(/^250 /);
    expect(taken[0]!.beginning).toHaveLength(1_000);
    expect(await client.say('MAIL FROM:<> SIZE=200000')).toMatch(/^552 /);
    await client.say('MAIL FROM:<>');
    await client.say(`RCPT TO:<${ADDRESS}>`);
    expect(await client.deliver('x'.repeat(200_000))).toMatch(/^552 /);
    expect(taken).toHaveLength(1);
  });

  it('is answered with 451 when it cannot be looked up or recorded right now', async () => {
    const away = (): Promise<never> => Promise.reject(new Error('away'));
    await start(receivedBy(away));
    const client = Client.connect();
    await client.begin();
    expect(await client.deliver('x')).toBe('451 4.3.0 It cannot be recorded right now; come again later');
    await listener.close();
    await start(receivedBy(() => Promise.resolve(false)));
    const second = Client.connect();
    await second.begin();
    expect(await second.deliver('x')).toMatch(/^451 /);
    await listener.close();
    await start({ findReceiver: away });
    expect(await Client.connect().begin()).toMatch(/^451 /);
    expect(refused).toEqual(['tryAgain']);
  });

  it('that breaks off is not recorded', async () => {
    await start();
    const client = Client.connect();
    await client.begin();
    await client.say('DATA');
    client.socket.write('Subject: half');
    client.socket.destroy();
    await sleep(100);
    expect(taken).toEqual([]);
  });

  it('is limited in connections and recipients per address', async () => {
    await start({ limits: { ...LIMITS, recipients: { amount: 1, periodSeconds: 3_600, burst: 2 } } });
    const held = [1, 2, 3].map(() => Client.connect());
    for (const client of held) expect(await client.answer()).toMatch(/^220 /);
    expect(await Client.connect().answer()).toMatch(/^421 4\.7\.0 Too many connections/);
    held[0]!.socket.destroy();
    const client = await connectOnceThereIsRoom();
    expect(await client.recipient()).toMatch(/^250 /);
    await client.say('RSET');
    expect(await client.recipient()).toMatch(/^250 /);
    await client.say('RSET');
    expect(await client.recipient()).toMatch(/^421 4\.7\.0 Too much mail/);
  });

  it('is limited in connections in all, of which refused ones do not count', async () => {
    const peerOf = () => String((peers += 1));
    let peers = 0;
    await start({ limits: { ...LIMITS, allConnections: 2, peerOf } });
    const held = [Client.connect(), Client.connect()];
    for (const client of held) expect(await client.answer()).toMatch(/^220 /);
    expect(await Client.connect().answer()).toBe('421 4.3.2 Too many connections; come again later');
    expect(refused).toEqual(['full']);
    await listener.close();
    await start({ limits: { ...LIMITS, allConnections: 4 } });
    const many = Array.from({ length: 50 }, () => Client.connect());
    const greetings = await Promise.all(many.map((client) => client.answer()));
    expect(greetings.filter((answer) => answer.startsWith('220 '))).toHaveLength(3);
    expect(refused).toEqual(Array.from({ length: 47 }, () => 'tooManyConnections'));
  });

  it('may come by a new connection once another has ended, encrypted or not', async () => {
    await start({
      certificate: certificateOf('bounces.example.com'),
      limits: { ...LIMITS, allConnections: 1 },
    });
    const { client } = await connectEncrypted();
    client.socket.destroy();
    (await connectOnceThereIsRoom()).socket.destroy();
    expect(await (await connectOnceThereIsRoom()).recipient()).toMatch(/^250 /);
  });

  it.each(['NOOP', 'RSET', 'EHLO mx.example.net', 'MAIL FROM:<>\r\nRSET'])(
    'is required: a client that sends only %j is disconnected',
    async (junk) => {
      await start();
      const client = Client.connect();
      await client.answer();
      client.socket.write(`${junk}\r\n`.repeat(200));
      expect(await client.last()).toBe('421 4.7.0 Too many commands without a mail');
      expect(refused).toEqual(['tooManyCommands']);
    },
  );

  it('may come by the hundred on one connection', async () => {
    await start();
    const client = Client.connect();
    await client.begin();
    for (let mails = 1; mails < 40; mails += 1) {
      expect(await client.deliver('x')).toMatch(/^250 /);
      expect(await client.recipient()).toMatch(/^250 /);
    }
    expect(taken).toHaveLength(39);
  });

  it('is cut off when its connection has lasted too long, active or idle', async () => {
    await start({ limits: { ...LIMITS, silenceMs: 300 } });
    expect(await Client.connect().last()).toMatch(/^421 /);
    await listener.close();
    await start({ limits: { ...LIMITS, sessionMs: 600 } });
    const slow = await connectInMail();
    const drip = setInterval(() => slow.socket.write('x'), 50);
    expect(await slow.last()).toMatch(/^421 /);
    clearInterval(drip);
    expect(taken).toEqual([]);
  });

  it('is accepted over a slow line, though the whole of it takes longer than a connection may last', async () => {
    const sessionMs = 1_500;
    await start({ limits: { ...LIMITS, sessionMs, messageBytes: 10_000_000 } });
    const slow = await connectInMail();
    for (const begunAt = performance.now(); performance.now() - begunAt < 3 * sessionMs; await sleep(20))
      slow.socket.write(`${'x'.repeat(900)}\r\n`.repeat(5));
    slow.socket.write('.\r\n');
    expect(await slow.answer()).toMatch(/^250 /);
    expect(taken).toHaveLength(1);
  });

  it('is recorded to its end on shutdown, and no other is begun', async () => {
    const recording = Promise.withResolvers<boolean>();
    const begun = Promise.withResolvers<void>();
    await start(
      receivedBy(() => {
        begun.resolve();
        return recording.promise;
      }),
    );
    const [idle, busy] = [Client.connect(), Client.connect()];
    await idle.begin();
    await busy.begin();
    await busy.say('DATA');
    busy.socket.write('x\r\n.\r\n');
    await begun.promise;
    const closed = listener.close();
    expect(await idle.answer()).toMatch(/^421 /);
    recording.resolve(true);
    expect(await busy.answer()).toMatch(/^250 /);
    await closed;
    await expect(
      new Promise((resolve, reject) => connect(port, '127.0.0.1').on('error', reject)),
    ).rejects.toThrow();
  });

  it('is received over TLS where there is a certificate', async () => {
    await start({ certificate: certificateOf('bounces.example.com') });
    const { client } = await connectEncrypted();
    await client.say('EHLO mx.example.net');
    await client.say('MAIL FROM:<>');
    expect(await client.say(`RCPT TO:<${ADDRESS}>`)).toMatch(/^250 /);
    expect(await client.deliver('x')).toMatch(/^250 /);
    expect(taken).toHaveLength(1);
  });

  it('is received with a renewed certificate, and with the current one while the renewed one cannot be used', async () => {
    const [before, newer] = [certificateOf('before.example.com'), certificateOf('newer.example.com')];
    await start({ certificate: before });
    // Half renewed: the key has been written, the certificate not yet.
    expect(() => listener.renewCertificate({ ...before, key: newer.key })).toThrow();
    expect((await connectEncrypted()).name).toBe('DNS:before.example.com');
    listener.renewCertificate(newer);
    expect((await connectEncrypted()).name).toBe('DNS:newer.example.com');
  });
});
