import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { EmailId } from '@posthorn/kernel';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { PeerLimits, type PeerLimitsOptions } from './peer-limits.ts';
import { refusals } from './smtp-refusals.ts';

/** How much is taken from others at once. */
interface ReceivingLimits extends PeerLimitsOptions {
  /** The largest mail that is taken. */
  readonly messageBytes: number;
  /** How much of it is kept in memory and read: its beginning. */
  readonly keptBytes: number;
  /** How long the other side may say nothing. */
  readonly silenceMs: number;
  /** How long a connection may last with everything. */
  readonly sessionMs: number;
}

export interface ReportListenerOptions {
  /** As what it greets. */
  readonly name: string;
  /** For STARTTLS, in PEM; undefined: it is not offered. */
  readonly certificate?: Certificate | undefined;
  readonly limits: ReceivingLimits;
  /** The email that mail to this address is about; undefined: there is no such address. What it throws is answered with 451. */
  readonly findEmail: (address: string) => Promise<EmailId | undefined>;
  /** Records what came back about an email. What it throws, or false, is answered with 451, and the mail comes again. */
  readonly take: (emailId: EmailId, beginning: Buffer) => Promise<boolean>;
  /** Told of what was thrown. */
  readonly onError: (error: unknown) => void;
  /** Told of what was refused. */
  readonly onRefusal: (reason: RefusalReason) => void;
}

/** A key and its certificate with those between it and an authority, in PEM. */
export interface Certificate {
  readonly key: Buffer | string;
  readonly cert: Buffer | string;
}

export type RefusalReason = keyof typeof refusals;

type Done = (error?: Error | null) => void;

/** What is known of a connection beside what smtp-server knows. */
interface Session {
  readonly address: string;
  readonly deadline: NodeJS.Timeout;
  /** Whether a mail is being taken. */
  isBusy: boolean;
  mistakes: number;
  /** Since the last mail that was taken. */
  commands: number;
  emailId?: EmailId;
}

/** The parts of smtp-server's connections that its types leave out. */
interface OpenConnection {
  readonly id: string;
  send(code: number, text: string): void;
  close(): void;
  _onCommand(command: Buffer, goOn?: () => void): void;
}

const MAX_MISTAKES = 5;
/** A mail takes six: EHLO, STARTTLS, EHLO, MAIL, RCPT, DATA. */
const MAX_COMMANDS_PER_MAIL = 100;
/** What is begun when we leave has this long. */
const CLOSE_WITHIN_MS = 10_000;

/** Takes mail that comes back (RFC 5321), for the addresses of emails alone, one at a time, and sends none. */
export class ReportListener {
  private readonly server: SMTPServer;
  private readonly sessions = new Map<string, Session>();
  private readonly peers: PeerLimits;
  private isLeaving = false;

  constructor(private readonly options: ReportListenerOptions) {
    const { limits, certificate, name } = options;
    this.peers = new PeerLimits(limits);
    this.server = new SMTPServer({
      name,
      logger: false,
      disableReverseLookup: true,
      authOptional: true,
      hideSMTPUTF8: true,
      disabledCommands: ['AUTH', ...(certificate === undefined ? ['STARTTLS'] : [])],
      ...certificate,
      size: limits.messageBytes,
      // Each mail comes back about one email (RFC 5321, section 4.5.3.1.8, would have us take a hundred; the rest comes again).
      maxRecipients: 1,
      socketTimeout: limits.silenceMs,
      closeTimeout: CLOSE_WITHIN_MS,
      onConnect: (_session, done) => done(this.leaving()),
      onMailFrom: (_address, _session, done) => done(this.leaving()),
      onRcptTo: ({ address }, session, done) => void this.judge(address, session, done),
      onData: (stream, session, done) => void this.take(stream, session, done),
      onClose: (session) => this.end(session),
    });
    // Whoever hangs up, or speaks no TLS, is no fault of ours.
    this.server.on('error', () => undefined);
    this.judgeConnections();
  }

  /** @returns the port, once it listens @throws when it cannot */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
    return (this.server.server.address() as AddressInfo).port;
  }

  /** From now on TLS is spoken with this certificate. @throws when it cannot be used; the one before stays */
  renewCertificate(certificate: Certificate): void {
    // smtp-server has forgotten the one before by the time that it finds out.
    createSecureContext({ ...certificate });
    this.server.updateSecureContext({ ...certificate });
  }

  /** Accepts nothing more, lets what is begun be recorded, and cuts what takes longer than ten seconds. */
  async close(): Promise<void> {
    this.isLeaving = true;
    const closed = new Promise<void>((resolve) => this.server.close(resolve));
    for (const [id, { isBusy }] of this.sessions) if (!isBusy) this.cut(id);
    await closed;
  }

  /**
   * smtp-server asks us about a connection when it is a tenth of a second old, and keeps one that we refuse until the other side closes
   * it, or for five seconds: who connects all the time would take the places of everybody else. So we judge before it begins.
   */
  private judgeConnections(): void {
    const begin = this.server.connect.bind(this.server);
    const judge = (socket: Socket, known: { id: string }): void => {
      const { remoteAddress: address = '' } = socket;
      const refused = this.peers.connect(address);
      if (refused !== undefined) return this.sendAway(socket, refused);
      begin(socket, known);
      this.begun(known.id, address);
    };
    this.server.connect = judge;
  }

  private sendAway(socket: Socket, reason: RefusalReason): void {
    const { message } = this.refuse(reason);
    socket.on('error', () => undefined).end(`421 ${message}\r\n`, () => socket.destroy());
  }

  private begun(id: string, address: string): void {
    const deadline = setTimeout(() => this.cut(id), this.options.limits.sessionMs);
    const session: Session = { address, deadline, isBusy: false, mistakes: 0, commands: 0 };
    this.sessions.set(id, session);
    this.countCommands(id, session);
  }

  /** smtp-server asks us nothing about most commands, and answers any number of them: so they are counted where it takes them in. */
  private countCommands(id: string, session: Session): void {
    const connection = this.connectionOf(id)!;
    const takeIn = connection._onCommand.bind(connection);
    const takeInCounted: OpenConnection['_onCommand'] = (command, goOn) => {
      session.commands += 1;
      if (session.commands <= MAX_COMMANDS_PER_MAIL) return takeIn(command, goOn);
      const { message } = this.refuse('tooManyCommands');
      connection.send(421, message);
      connection.close();
    };
    connection._onCommand = takeInCounted;
  }

  private end({ id }: SMTPServerSession): void {
    const session = this.sessions.get(id);
    if (session === undefined) return;
    this.sessions.delete(id);
    clearTimeout(session.deadline);
    this.peers.disconnect(session.address);
  }

  private async judge(address: string, { id }: SMTPServerSession, done: Done): Promise<void> {
    const session = this.sessions.get(id);
    if (session === undefined || this.isLeaving) return done(this.refuse('leaving'));
    if (!this.peers.mayNameRecipient(session.address)) return done(this.refuse('tooFast'));
    const emailId = await this.found(address);
    if (emailId === 'unknown') return done(this.refuse('tryAgain'));
    if (emailId === undefined) return done(this.refuseAddress(session));
    session.emailId = emailId;
    done();
  }

  private async found(address: string): Promise<EmailId | undefined | 'unknown'> {
    try {
      return await this.options.findEmail(address);
    } catch (error) {
      this.options.onError(error);
      return 'unknown';
    }
  }

  /** Who tries one address after the other is made to connect again for every few of them. */
  private refuseAddress(session: Session): Error {
    session.mistakes += 1;
    return this.refuse(session.mistakes < MAX_MISTAKES ? 'noSuchAddress' : 'tooManyMistakes');
  }

  private async take(stream: SMTPServerDataStream, { id }: SMTPServerSession, done: Done): Promise<void> {
    const session = this.sessions.get(id);
    if (session?.emailId === undefined) return done(this.refuse('tryAgain'));
    session.isBusy = true;
    const refused = await this.taken(stream, session.emailId).catch((error: unknown) => {
      this.options.onError(error);
      return 'tryAgain' as const;
    });
    session.isBusy = false;
    if (refused === undefined) session.commands = 0;
    done(refused === undefined ? null : this.refuse(refused));
    if (this.isLeaving) this.cut(id);
  }

  /** The answer is success only when what came back is recorded. */
  private async taken(stream: SMTPServerDataStream, emailId: EmailId): Promise<RefusalReason | undefined> {
    const beginning = await beginningOf(stream, this.options.limits.keptBytes);
    // Who hung up in the middle said nothing to its end, and comes again.
    if (beginning === undefined) return 'tryAgain';
    if (stream.sizeExceeded) return 'tooLarge';
    return (await this.options.take(emailId, beginning)) ? undefined : 'tryAgain';
  }

  private leaving(): Error | null {
    return this.isLeaving ? this.refuse('leaving') : null;
  }

  private refuse(reason: RefusalReason): Error {
    this.options.onRefusal(reason);
    return refusals[reason]();
  }

  /** Takes leave of a connection, whatever it is doing. */
  private cut(id: string): void {
    const connection = this.connectionOf(id);
    connection?.send(421, '4.3.2 Closing the connection; come again later');
    connection?.close();
  }

  private connectionOf(id: string): OpenConnection | undefined {
    return [...(this.server.connections as Set<OpenConnection>)].find((connection) => connection.id === id);
  }
}

/** The beginning of a mail; the rest of it is heard and forgotten. Undefined: it broke off. */
async function beginningOf(stream: SMTPServerDataStream, bytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let kept = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      const part = chunk.subarray(0, bytes - kept);
      if (part.length > 0) chunks.push(part);
      kept += part.length;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}
