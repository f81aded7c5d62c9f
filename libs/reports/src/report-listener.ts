import type { AddressInfo, Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { addressKey } from '@posthorn/domain';
import { SMTPServer, type SMTPServerDataStream, type SMTPServerSession } from 'smtp-server';
import { PeerLimits, type PeerLimitsOptions } from './peer-limits.ts';
import { refusals } from './smtp-refusals.ts';

/** What senders may use of us. */
interface ReceivingLimits extends PeerLimitsOptions {
  /** The largest mail that is accepted. */
  readonly messageBytes: number;
  /** How much of its beginning is buffered and parsed. */
  readonly keptBytes: number;
  /** Idle timeout of a connection. */
  readonly silenceMs: number;
  /** The longest that a connection may last, counted anew from each DATA; longer only while a mail of acceptable size arrives at 16 kbit/s or more. */
  readonly sessionMs: number;
}

/** A mail that has arrived. */
export interface ReceivedMail {
  /** Of the envelope; empty: the null sender of notifications about mail (RFC 5321, section 4.5.5). */
  readonly sender: string;
  /** As much of its beginning as is kept. */
  readonly beginning: Buffer;
}

/** Records a mail to an address. When it rejects or gives false, the answer is 451, and the sender retries. */
export type MailReceiver = (mail: ReceivedMail) => Promise<boolean>;

export interface ReportListenerOptions {
  /** The host name in the greeting. */
  readonly name: string;
  /** For STARTTLS, in PEM; undefined: it is not offered. */
  readonly certificate?: Certificate | undefined;
  readonly limits: ReceivingLimits;
  /** What takes mail to this address; undefined: there is no such address. When it rejects, the answer is 451. */
  readonly findReceiver: (address: string) => Promise<MailReceiver | undefined>;
  /** Called with what `findReceiver` or a receiver threw. */
  readonly onError: (error: unknown) => void;
  /** Called for each refusal. */
  readonly onRefusal: (reason: RefusalReason) => void;
}

/** A private key and its certificate chain, in PEM. */
export interface Certificate {
  readonly key: Buffer | string;
  readonly cert: Buffer | string;
}

export type RefusalReason = keyof typeof refusals;

type Done = (error?: Error | null) => void;

/** Our state of a connection, beside smtp-server's. */
interface Session {
  readonly address: string;
  readonly deadline: NodeJS.Timeout;
  /** Whether a mail is being received. */
  isBusy: boolean;
  /** The bytes of that mail so far. */
  received: number;
  /** How many of them had arrived when the deadline was last extended. */
  receivedBefore: number;
  unknownRecipients: number;
  /** Since the last accepted mail. */
  commands: number;
  receiver?: MailReceiver;
}

/** The members of smtp-server's connections that its types omit. */
interface OpenConnection {
  readonly id: string;
  send(code: number, text: string): void;
  close(): void;
  _onCommand(command: Buffer, next?: () => void): void;
}

const MAX_UNKNOWN_RECIPIENTS = 5;
/** The slowest rate at which a large mail may arrive, 16 kbit/s. */
const MIN_BYTES_PER_MS = 2;
/** A mail needs six: EHLO, STARTTLS, EHLO, MAIL, RCPT, DATA. */
const MAX_COMMANDS_PER_MAIL = 100;
/** How long open connections may go on after {@link ReportListener.close}. */
const CLOSE_WITHIN_MS = 10_000;

/** An SMTP server (RFC 5321) that receives returned mail: only at addresses that its caller knows, one recipient per mail, and no relaying. */
export class ReportListener {
  private readonly server: SMTPServer;
  private readonly sessions = new Map<string, Session>();
  private readonly peers: PeerLimits;
  private isClosing = false;

  constructor(private readonly options: ReportListenerOptions) {
    const { limits, certificate, name } = options;
    this.peers = new PeerLimits(limits);
    this.server = new SMTPServer({
      name,
      logger: false,
      disableReverseLookup: true,
      authOptional: true,
      // The sender's address is not used, and that of some servers is invalid (RFC 5321), such as with an underscore in the host name.
      lenientAddressParsing: true,
      disabledCommands: ['AUTH', ...(certificate === undefined ? ['STARTTLS'] : [])],
      ...certificate,
      size: limits.messageBytes,
      // A mail to these addresses is about one email. RFC 5321, section 4.5.3.1.8, requires a hundred; senders retry the rest.
      maxRecipients: 1,
      socketTimeout: limits.silenceMs,
      closeTimeout: CLOSE_WITHIN_MS,
      onConnect: (_session, done) => done(this.refusalIfClosing()),
      onMailFrom: (_address, _session, done) => done(this.refusalIfClosing()),
      onRcptTo: ({ address }, session, done) => void this.checkRecipient(address, session, done),
      onData: (stream, session, done) => void this.take(stream, session, done),
      onClose: (session) => this.end(session),
    });
    // Such as aborted connections and failed TLS handshakes: faults of the client.
    this.server.on('error', () => undefined);
    this.limitConnections();
  }

  /** @returns the port @throws when it cannot listen */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.server.once('error', reject);
      this.server.listen(port, host, resolve);
    });
    return (this.server.server.address() as AddressInfo).port;
  }

  /** Uses this certificate from now on. @throws when it cannot be used; the current one stays */
  renewCertificate(certificate: Certificate): void {
    // Checked first, since smtp-server drops the current one before it checks the new one.
    createSecureContext(certificate);
    this.server.updateSecureContext(certificate);
  }

  /** Accepts no more mail, lets mails in progress be recorded, and closes connections that last longer than ten seconds. */
  async close(): Promise<void> {
    this.isClosing = true;
    const closed = new Promise<void>((resolve) => this.server.close(resolve));
    for (const [id, { isBusy }] of this.sessions) if (!isBusy) this.closeConnection(id);
    await closed;
  }

  /**
   * Checks the limits before smtp-server sees a connection. Its `onConnect` comes 0.1 s later, and a connection refused there stays open until the
   * client closes it, or for five seconds, so that a client that keeps connecting would use up the connections of everybody else.
   */
  private limitConnections(): void {
    const connectOriginal = this.server.connect.bind(this.server);
    const connect = (socket: Socket, connection: { id: string }): void => {
      const { remoteAddress: address = '' } = socket;
      const refused = this.peers.connect(address);
      if (refused !== undefined) return this.rejectConnection(socket, refused);
      connectOriginal(socket, connection);
      this.startSession(connection.id, address);
    };
    this.server.connect = connect;
  }

  private rejectConnection(socket: Socket, reason: RefusalReason): void {
    const { message } = this.refuse(reason);
    socket.on('error', () => undefined).end(`421 ${message}\r\n`, () => socket.destroy());
  }

  private startSession(id: string, address: string): void {
    const deadline = setTimeout(() => this.checkDeadline(id, session), this.options.limits.sessionMs);
    const nothing = { received: 0, receivedBefore: 0, unknownRecipients: 0, commands: 0 };
    const session: Session = { address, deadline, isBusy: false, ...nothing };
    this.sessions.set(id, session);
    this.countCommands(id, session);
  }

  private checkDeadline(id: string, session: Session): void {
    const { sessionMs, messageBytes } = this.options.limits;
    const { isBusy, received, receivedBefore } = session;
    const isArriving = received - receivedBefore >= sessionMs * MIN_BYTES_PER_MS && received <= messageBytes;
    if (!isBusy || !isArriving) return this.closeConnection(id);
    session.receivedBefore = received;
    session.deadline.refresh();
  }

  /** Counts commands where smtp-server receives them, since it has no hook for most of them and answers any number. */
  private countCommands(id: string, session: Session): void {
    const connection = this.connectionOf(id)!;
    const handleCommand = connection._onCommand.bind(connection);
    const countAndHandle: OpenConnection['_onCommand'] = (command, next) => {
      session.commands += 1;
      if (session.commands <= MAX_COMMANDS_PER_MAIL) return handleCommand(command, next);
      const { message } = this.refuse('tooManyCommands');
      connection.send(421, message);
      connection.close();
    };
    connection._onCommand = countAndHandle;
  }

  private end({ id }: SMTPServerSession): void {
    const session = this.sessions.get(id);
    if (session === undefined) return;
    this.sessions.delete(id);
    clearTimeout(session.deadline);
    this.peers.disconnect(session.address);
  }

  private async checkRecipient(address: string, { id }: SMTPServerSession, done: Done): Promise<void> {
    const session = this.sessions.get(id);
    if (session === undefined || this.isClosing) return done(this.refuse('leaving'));
    if (!this.peers.allowRecipient(session.address)) return done(this.refuse('tooFast'));
    const receiver = await this.findReceiver(address);
    if (receiver === 'unknown') return done(this.refuse('tryAgain'));
    if (receiver === undefined) return done(this.refuseAddress(session));
    session.receiver = receiver;
    done();
  }

  private async findReceiver(address: string): Promise<MailReceiver | undefined | 'unknown'> {
    try {
      // smtp-server decodes punycode in the domain.
      return await this.options.findReceiver(addressKey(address));
    } catch (error) {
      this.options.onError(error);
      return 'unknown';
    }
  }

  /** A client that guesses addresses has to reconnect after every few. */
  private refuseAddress(session: Session): Error {
    session.unknownRecipients += 1;
    return this.refuse(
      session.unknownRecipients < MAX_UNKNOWN_RECIPIENTS ? 'noSuchAddress' : 'tooManyMistakes',
    );
  }

  private async take(
    stream: SMTPServerDataStream,
    { id, envelope }: SMTPServerSession,
    done: Done,
  ): Promise<void> {
    const session = this.sessions.get(id);
    if (session?.receiver === undefined) return done(this.refuse('tryAgain'));
    const sender = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    Object.assign(session, { isBusy: true, received: 0, receivedBefore: 0 });
    session.deadline.refresh();
    const refused = await this.receive(stream, session, sender).catch((error: unknown) => {
      this.options.onError(error);
      return 'tryAgain' as const;
    });
    session.isBusy = false;
    if (refused === undefined) session.commands = 0;
    done(refused === undefined ? null : this.refuse(refused));
    if (this.isClosing) this.closeConnection(id);
  }

  /** Succeeds only when the mail is recorded. */
  private async receive(
    stream: SMTPServerDataStream,
    session: Session,
    sender: string,
  ): Promise<RefusalReason | undefined> {
    const onReceived = (bytes: number): number => (session.received += bytes);
    const beginning = await readBeginning(stream, this.options.limits.keptBytes, onReceived);
    // The client hung up before the end of the mail, and will retry.
    if (beginning === undefined) return 'tryAgain';
    if (stream.sizeExceeded) return 'tooLarge';
    return (await session.receiver!({ sender, beginning })) ? undefined : 'tryAgain';
  }

  private refusalIfClosing(): Error | null {
    return this.isClosing ? this.refuse('leaving') : null;
  }

  private refuse(reason: RefusalReason): Error {
    this.options.onRefusal(reason);
    return refusals[reason]();
  }

  /** Closes a connection with 421, whatever it is doing. */
  private closeConnection(id: string): void {
    const connection = this.connectionOf(id);
    connection?.send(421, '4.3.2 Closing the connection; come again later');
    connection?.close();
  }

  private connectionOf(id: string): OpenConnection | undefined {
    return [...(this.server.connections as Set<OpenConnection>)].find((connection) => connection.id === id);
  }
}

/** The beginning of a mail; the rest is read and discarded. Undefined: the stream broke off. */
async function readBeginning(
  stream: SMTPServerDataStream,
  bytes: number,
  onReceived: (bytes: number) => void,
): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let kept = 0;
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      onReceived(chunk.length);
      const part = chunk.subarray(0, bytes - kept);
      if (part.length > 0) chunks.push(part);
      kept += part.length;
    }
  } catch {
    return undefined;
  }
  return Buffer.concat(chunks);
}
