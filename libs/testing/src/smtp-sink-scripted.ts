import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { sleep } from '@posthorn/kernel';
import { ConnectionCount } from './connection-count.ts';
import { listenOnLoopback } from './loopback.ts';
import { isOnlyDelay, type SinkMessage, type SinkScript, type SinkStage } from './smtp-sink-script.ts';

const DEFAULT_REPLY: Readonly<Record<SinkStage, string>> = {
  greeting: '220 scripted',
  ehlo: '250 scripted',
  starttls: '220 go on',
  auth: '235 welcome',
  mail: '250 ok',
  rcpt: '250 ok',
  data: '354 go on',
  content: '250 queued',
};

const STAGE_OF_VERB: Readonly<Record<string, SinkStage>> = {
  EHLO: 'ehlo',
  HELO: 'ehlo',
  STARTTLS: 'starttls',
  AUTH: 'auth',
  MAIL: 'mail',
  RCPT: 'rcpt',
  DATA: 'data',
};

const END_OF_CONTENT = '\r\n.\r\n';

/** One client's session, without an SMTP library, so that any reply can be sent at any stage. */
class ScriptedSession {
  private input = '';
  private busy = false;
  private inContent = false;
  private silent = false;
  private from = '';
  private to: string[] = [];
  private transaction = 0;

  constructor(
    private readonly socket: Socket,
    private readonly server: ScriptedSmtpServer,
    private readonly connection: number,
  ) {
    socket.on('data', (chunk) => {
      this.input += chunk.toString('latin1');
      void this.readOn();
    });
    socket.on('error', () => socket.destroy());
    void this.answer('greeting');
  }

  private async readOn(): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    for (let part = this.nextPart(); part !== undefined; part = this.nextPart()) await this.serve(part);
    this.busy = false;
  }

  /** A command, or the whole content with its final dot. */
  private nextPart(): string | undefined {
    // Empty content is only the final dot.
    const isEmptied = this.inContent && this.input.startsWith('.\r\n');
    const end = this.inContent && !isEmptied ? END_OF_CONTENT : '\r\n';
    const at = this.input.indexOf(end);
    if (at < 0 || this.silent || this.socket.destroyed) return undefined;
    const part = this.input.slice(0, at);
    this.input = this.input.slice(at + end.length);
    return part;
  }

  private async serve(part: string): Promise<void> {
    if (this.inContent) return this.takeContent(part);
    this.server.commands.push(part);
    const verb = part.split(' ', 1)[0]!.toUpperCase();
    const stage = STAGE_OF_VERB[verb];
    if (stage === undefined) return this.serveOther(verb);
    if (stage === 'mail') this.begin(part);
    if (stage === 'rcpt') this.to.push(address(part));
    const code = await this.answer(stage);
    if (stage === 'data') this.inContent = code.startsWith('3');
  }

  private serveOther(verb: string): void {
    if (this.server.ignoredCommand === verb) return;
    this.socket.write(verb === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
    if (verb === 'QUIT') this.socket.end();
  }

  private begin(command: string): void {
    this.transaction += 1;
    this.from = address(command);
    this.to = [];
  }

  private async takeContent(content: string): Promise<void> {
    this.inContent = false;
    const code = await this.answer('content');
    if (!code.startsWith('2')) return;
    const raw = Buffer.from(`${content}\r\n`.replace(/^\./gm, ''), 'latin1');
    const { from, to, connection } = this;
    this.server.messages.push({ from, to, raw, connection, receivedAt: new Date() });
  }

  /** Answers a stage as the script says. @returns the reply; empty if there was none */
  private async answer(stage: SinkStage): Promise<string> {
    const { from, to, connection, transaction } = this;
    const answer = this.server.script(stage, { from, to, connection, transaction });
    const reply =
      answer === undefined || isOnlyDelay(answer) ? this.server.defaultReply(stage) : answer.reply;
    if (answer?.delayMs !== undefined) await sleep(answer.delayMs, this.server.closing);
    await answer?.after;
    if (reply !== undefined) this.socket.write(`${reply}\r\n`);
    // A server that has left a command unanswered must not answer later ones.
    else this.silent = true;
    if (answer?.drop === true) this.socket.destroySoon();
    return reply ?? '';
  }
}

const address = (command: string): string => /<([^<>]*)>/.exec(command)?.[1] ?? '';

export interface ScriptedSmtpServerOptions {
  /** The extensions that EHLO announces, such as `PIPELINING`. */
  readonly extensions?: readonly string[];
}

/** An SMTP server that replies at each stage exactly as its script says, even if that violates the RFCs. */
export class ScriptedSmtpServer {
  readonly messages: SinkMessage[] = [];
  /** Every command line of every client. */
  readonly commands: string[] = [];
  readonly connections = new ConnectionCount();
  /** The command that is left unanswered from now on. */
  ignoredCommand: 'QUIT' | 'RSET' | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly abort = new AbortController();
  private readonly server: Server;

  private constructor(
    /** May be replaced while clients are connected. */
    public script: SinkScript,
    private readonly extensions: readonly string[],
  ) {
    this.server = createServer((socket) => this.serve(socket));
  }

  /** Listens on a free port of 127.0.0.1. */
  static async start(
    script: SinkScript = () => undefined,
    options: ScriptedSmtpServerOptions = {},
  ): Promise<ScriptedSmtpServer> {
    const started = new ScriptedSmtpServer(script, options.extensions ?? []);
    await listenOnLoopback(started.server);
    return started;
  }

  get url(): string {
    return `smtp://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Aborted when the server closes. */
  get closing(): AbortSignal {
    return this.abort.signal;
  }

  defaultReply(stage: SinkStage): string {
    if (stage !== 'ehlo' || this.extensions.length === 0) return DEFAULT_REPLY[stage];
    const lines = ['scripted', ...this.extensions];
    return lines.map((line, at) => `250${at === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n');
  }

  /** Closes every connection from this side, as servers do with idle clients. @param farewell what is sent first */
  hangUp(farewell = ''): void {
    for (const socket of this.sockets) socket.end(farewell);
  }

  async close(): Promise<void> {
    this.abort.abort();
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }

  private serve(socket: Socket): void {
    this.sockets.add(socket);
    const connection = this.connections.opened();
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.connections.closed();
    });
    new ScriptedSession(socket, this, connection);
  }
}
