import type { AddressInfo, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { sleep } from '@posthorn/kernel';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import type { CertifiedKey } from './certificates.ts';
import { ConnectionCount } from './connection-count.ts';
import {
  isOnlyDelay,
  type SinkMessage,
  type SinkScript,
  type SinkContext,
  type SinkStage,
} from './smtp-sink-script.ts';

export interface SmtpSinkOptions {
  /** Default: a free one. */
  readonly port?: number;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** What it does at `greeting`, `auth`, `mail`, `rcpt` and `content`; may be replaced later. Default: it accepts everything. */
  readonly script?: SinkScript;
  /**
   * Whether AUTH is offered; any credentials that the script does not refuse are accepted. A function: by XOAUTH2 alone, with the access tokens for which it
   * returns true. Default: no.
   */
  readonly auth?: boolean | ((accessToken: string, user: string) => boolean);
  /** Whether STARTTLS is offered, with a self-signed certificate or with this one. Default: no. */
  readonly starttls?: boolean | CertifiedKey;
}

/** A refusal in the form that smtp-server expects. */
function refusal(reply: string): Error {
  return Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) });
}

/** An SMTP server that keeps the messages that it receives. */
export class SmtpSink {
  readonly messages: SinkMessage[] = [];
  readonly connections = new ConnectionCount();
  /** Sessions that are open, by the server's own id. */
  private readonly sessions = new Map<string, { connection: number; transactions: number }>();
  private readonly abort = new AbortController();
  private readonly waiting = new Set<() => void>();
  private readonly server: SMTPServer;
  script: SinkScript;

  private constructor(private readonly options: SmtpSinkOptions) {
    this.script = options.script ?? ((): undefined => undefined);
    this.server = new SMTPServer(this.serverOptions());
    // A client that hangs up is not an error of the sink.
    this.server.on('error', () => undefined);
  }

  static async start(options: SmtpSinkOptions = {}): Promise<SmtpSink> {
    const sink = new SmtpSink(options);
    await new Promise<void>((resolve, reject) => {
      sink.server.server.once('error', reject);
      sink.server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
    });
    return sink;
  }

  /** How many messages were accepted. */
  get count(): number {
    return this.messages.length;
  }

  get port(): number {
    return (this.server.server.address() as AddressInfo).port;
  }

  /** The value for `SMTP_URL`, without credentials. */
  get url(): string {
    return `smtp://${this.options.host ?? '127.0.0.1'}:${this.port}`;
  }

  /**
   * Waits until at least `n` messages were accepted.
   *
   * @throws after `timeoutMs`, with how many there are
   */
  async received(n: number, timeoutMs = 60_000): Promise<SinkMessage[]> {
    const deadline = AbortSignal.timeout(timeoutMs);
    while (this.count < n) {
      if (deadline.aborted) throw new Error(`${this.count} of ${n} messages after ${timeoutMs} ms`);
      await new Promise<void>((resolve) => {
        this.waiting.add(resolve);
        deadline.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return this.messages;
  }

  async close(): Promise<void> {
    this.abort.abort();
    const closed = new Promise<void>((resolve) => this.server.close(resolve));
    for (const { socket } of this.openSockets()) socket.destroy();
    await closed;
  }

  private serverOptions(): SMTPServerOptions {
    const { auth = false, starttls = false } = this.options;
    return {
      // Otherwise it warns on stderr about its built-in certificate.
      logger: false,
      ...(typeof auth === 'function' ? { authMethods: ['XOAUTH2'] } : {}),
      disabledCommands: [...(auth !== false ? [] : ['AUTH']), ...(starttls === false ? ['STARTTLS'] : [])],
      ...(typeof starttls === 'object' ? starttls : {}),
      allowInsecureAuth: true,
      authOptional: true,
      disableReverseLookup: true,
      onConnect: (session, done) => {
        this.sessions.set(session.id, { connection: this.connections.opened(), transactions: 0 });
        void this.runScript('greeting', session, () => done(), done);
      },
      onClose: (session) => {
        if (this.sessions.delete(session.id)) this.connections.closed();
      },
      onAuth: ({ accessToken = '', username = '' }, session, done) => {
        const isLogin = typeof auth !== 'function' || auth(accessToken, username);
        // Without a user, smtp-server refuses a token as Google does: with a challenge first.
        const response = isLogin ? { user: 'sink' } : { data: { status: '400' } };
        void this.runScript('auth', session, () => done(null, response), done);
      },
      onMailFrom: ({ address }, session, done) => {
        this.sessions.get(session.id)!.transactions += 1;
        void this.runScript('mail', session, () => done(), done, { from: address });
      },
      onRcptTo: ({ address }, session, done) =>
        void this.runScript('rcpt', session, () => done(), done, { to: address }),
      onData: (stream, session, done) => void this.take(stream, session, done),
    };
  }

  private async take(
    stream: Readable,
    session: SMTPServerSession,
    done: (error?: Error) => void,
  ): Promise<void> {
    const raw = await buffer(stream).catch(() => undefined);
    if (raw === undefined) return;
    const keep = (): void => this.keep(raw, session);
    const accept = (): void => {
      keep();
      done();
    };
    await this.runScript('content', session, accept, done, { keep });
  }

  private keep(raw: Buffer, session: SMTPServerSession): void {
    const { from, to, connection } = this.context(session);
    this.messages.push({ from, to, raw, receivedAt: new Date(), connection });
    for (const wake of this.waiting) wake();
    this.waiting.clear();
  }

  /** Asks the script, and then accepts, refuses, stays silent or closes the connection. */
  private async runScript(
    stage: SinkStage,
    session: SMTPServerSession,
    goOn: () => void,
    refuse: (error: Error) => void,
    { keep, ...said }: { from?: string; to?: string; keep?: () => void } = {},
  ): Promise<void> {
    const context = this.context(session, said);
    const answer = this.script(stage, context);
    if (answer === undefined) return goOn();
    if (answer.delayMs !== undefined) await sleep(answer.delayMs, this.abort.signal);
    await answer.after;
    if (isOnlyDelay(answer) || answer.reply?.startsWith('2')) goOn();
    else {
      if (answer.isTaken === true) keep?.();
      if (answer.reply !== undefined) refuse(refusal(answer.reply));
    }
    if (answer.drop === true)
      this.openSockets()
        .find(({ id }) => id === session.id)
        ?.socket.destroySoon();
  }

  /** smtp-server adds an address to the envelope only after its callback, hence `said`. */
  private context(session: SMTPServerSession, said: { from?: string; to?: string } = {}): SinkContext {
    const { mailFrom, rcptTo } = session.envelope;
    const from = said.from ?? (mailFrom ? mailFrom.address : '');
    const to = [...rcptTo.map(({ address }) => address), ...(said.to === undefined ? [] : [said.to])];
    const { connection = 0, transactions = 0 } = this.sessions.get(session.id) ?? {};
    return { from, to, connection, transaction: transactions };
  }

  private openSockets(): { id: string; socket: Socket }[] {
    const connections = this.server.connections as Set<{ id: string; _socket: Socket }>;
    return [...connections].map(({ id, _socket }) => ({ id, socket: _socket }));
  }
}
