import { isAscii } from 'node:buffer';
import type { Socket } from 'node:net';
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import { boundText, type Transmission } from '@posthorn/domain';
import { startTimeout } from '@posthorn/kernel';
import type { PooledConnection } from './connection-pool.ts';
import { type ConnectionSettings, mailerOptions, mayTalkInClear } from './connection-settings.ts';
import { Dialogue } from './dialogue.ts';
import { Mailer } from './mailer.ts';
import { AddressSearch } from './relay-addresses.ts';
import { redactionOf } from './reply.ts';
import { needsSmtpUtf8 } from './sendable.ts';
import type { RequestedReports, SmtpEnvelope } from './smtp-transport.ts';

type Done = (error?: Error | null) => void;

const ALWAYS = (): boolean => true;
const NOTHING_TO_FINISH: Done = () => undefined;

const SMTPUTF8_MISSING: Transmission = {
  kind: 'refused',
  stage: 'rcpt',
  reply: {
    code: 550,
    enhancedCode: '5.6.7',
    text: 'Posthorn: an address of the email has characters beyond ASCII before its @, and the relay does not offer SMTPUTF8',
  },
};

const loginMissing = (offered: string): Transmission => ({
  kind: 'refused',
  stage: 'auth',
  reply: {
    code: 504,
    enhancedCode: '5.5.4',
    text: boundText(`Posthorn: logs in by PLAIN, LOGIN or CRAM-MD5, and the relay offers only ${offered}`),
  },
});

/** Whether another server of the relay would say the same: it does not take our password, or this machine lacks something. */
const isAboutUs = (failure: Transmission): boolean =>
  failure.kind === 'refused'
    ? failure.stage === 'auth' && failure.reply.code >= 500
    : failure.kind === 'broken' && failure.isOurs === true;

/** The mailer refuses, before it sends anything, what is larger than the server has said to take (RFC 1870, section 6.1). */
const isTooLarge = (error: Error): boolean =>
  'code' in error &&
  error.code === 'EMESSAGE' &&
  'command' in error &&
  error.command === 'MAIL FROM' &&
  !('response' in error);

/** What a connection ends with when nothing failed: it was closed, by us or by the server. */
const SAID_GOODBYE = new Error('the connection was closed');

/** As the mailer takes it, which says it only to a server that offers it (RFC 3461, section 4). */
const dsnOf = ({ envelopeId, of }: RequestedReports): SMTPConnection.DSNOptions => ({
  ret: 'HDRS',
  envid: envelopeId,
  notify: [...of],
});

async function gone(socket: Socket | false | null): Promise<void> {
  if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}

/** One connection to the relay. One message at a time. */
export class RelayConnection implements PooledConnection {
  private readonly dialogue: Dialogue;
  private readonly smtp: Mailer;
  private end: Error | undefined;
  private finishStep: Done = NOTHING_TO_FINISH;
  /** Ends the wait for what the dialogue waits for. */
  private cancelTimeout: () => void = NOTHING_TO_FINISH;
  /** Why nothing can be sent over it. */
  private failure: Transmission | undefined;
  /** How many messages were begun on it. */
  messages = 0;

  /**
   * Connects, secures and authenticates; gives what the server or the network did about it if that fails. The name of a relay may lead to
   * several servers: what goes wrong at one of them is tried at the others (RFC 5321, section 5.1).
   */
  static async open(settings: ConnectionSettings): Promise<RelayConnection | Transmission> {
    const addresses = new AddressSearch(settings.addresses);
    for (;;) {
      const connection = await RelayConnection.attempt(settings, addresses);
      const { failure } = connection;
      if (failure === undefined) return connection;
      if (isAboutUs(failure) || !addresses.failedAt(connection.smtp.reached)) return failure;
    }
  }

  private static async attempt(
    settings: ConnectionSettings,
    addresses: AddressSearch,
  ): Promise<RelayConnection> {
    const connection = await new RelayConnection(settings, addresses, false).establish();
    const { failure } = connection;
    const hasBrokenTls = failure?.kind === 'broken' && failure.stage === 'starttls';
    return hasBrokenTls && mayTalkInClear(settings)
      ? new RelayConnection(settings, addresses, true).establish()
      : connection;
  }

  private constructor(
    private readonly settings: ConnectionSettings,
    addresses: AddressSearch,
    inClear: boolean,
  ) {
    this.dialogue = new Dialogue(redactionOf(settings.address.credentials), () => this.watch());
    const logging = { logger: this.dialogue.log, transactionLog: true };
    this.smtp = new Mailer({ ...mailerOptions(settings, inClear), ...logging }, addresses, this.dialogue);
    this.smtp.on('error', (error: Error) => this.ended(error));
    this.smtp.on('end', () => this.ended(SAID_GOODBYE));
  }

  /** Whether what is said is encrypted. */
  get isSecured(): boolean {
    return this.smtp.secure;
  }

  /** Whether the relay has taken our user and password. */
  get isLoggedIn(): boolean {
    return this.settings.address.credentials !== undefined && this.smtp.allowsAuth;
  }

  get isAlive(): boolean {
    return this.end === undefined && !this.smtp.destroyed;
  }

  /**
   * Transmits a message; see `SmtpTransport.send`.
   *
   * @param mayWrite asked when the relay has said yes to the envelope; undefined is given back when it may not
   */
  async send(
    envelope: SmtpEnvelope,
    message: Buffer,
    mayWrite: () => boolean,
  ): Promise<Transmission | undefined> {
    this.messages += 1;
    this.dialogue.beginMessage();
    this.smtp.mayWrite = mayWrite;
    this.smtp.hasKeptBack = false;
    this.smtp.messageIsUtf8 = needsSmtpUtf8(envelope, message);
    if (this.smtp.messageIsUtf8 && !this.dialogue.offersSmtpUtf8) return SMTPUTF8_MISSING;
    const mailerEnvelope = {
      from: envelope.from,
      to: [envelope.to],
      size: message.length,
      use8BitMime: !isAscii(message),
      ...(envelope.reports && { dsn: dsnOf(envelope.reports) }),
    };
    const error = await this.step((done) => this.smtp.send(mailerEnvelope, message, done));
    // A connection that has nothing to do must not hold its last email.
    this.smtp.mayWrite = ALWAYS;
    if (error !== undefined && isTooLarge(error)) {
      return {
        kind: 'refused',
        stage: 'mail',
        reply: {
          code: 552,
          enhancedCode: '5.3.4',
          text: `Posthorn: the message has ${message.length} bytes, and the relay takes ${this.smtp.largest} at most`,
        },
      };
    }
    return this.smtp.hasKeptBack && !this.dialogue.hasFailed ? undefined : this.dialogue.outcome(error);
  }

  /** Makes ready for another message, or gives the connection up: it is alive afterwards only if one may follow. */
  async settle(transmission: Transmission): Promise<void> {
    const mayGoOn = transmission.kind === 'accepted' || transmission.kind === 'refused';
    if (!mayGoOn || !this.isAlive || !this.dialogue.isAtRest) return this.abandon();
    // A refused recipient leaves the transaction open, and a second MAIL would be refused (RFC 5321, section 4.1.4).
    if (transmission.kind === 'refused' && (await this.reset()) !== undefined) return this.abandon();
    // A reply too many must not become the answer to the next message; the mailer reads on a turn later.
    await nextTurnOfTheLoop();
    await nextTurnOfTheLoop();
  }

  async quit(): Promise<void> {
    if (!this.isAlive) return this.abandon();
    const socket = this.smtp._socket;
    const end = await this.step(() => this.smtp.quit(), this.settings.quitTimeoutMs);
    if (end !== SAID_GOODBYE) return this.abandon();
    // The server closes its side too before another connection takes this one's place; the mailer sees to it in time.
    await gone(socket);
  }

  /** Its answer is waited for as long as that of any command. */
  private reset(): Promise<Error | undefined> {
    return this.step((done) => this.smtp.reset(done), this.settings.patienceMs.command);
  }

  private async establish(): Promise<this> {
    this.failure = await this.connect();
    if (this.failure !== undefined) await this.abandon();
    return this;
  }

  private async connect(): Promise<Transmission | undefined> {
    const { credentials } = this.settings.address;
    this.watch();
    const error = await this.step((done) => this.smtp.connect(done));
    if (error !== undefined) return this.dialogue.outcome(error);
    // As mailers do: a relay that offers no AUTH gets none, and says at MAIL whether it needs it.
    if (credentials === undefined || !this.smtp.allowsAuth) return undefined;
    const { foreignLogins } = this.smtp;
    if (foreignLogins !== undefined) return loginMissing(foreignLogins);
    const login = { user: credentials.user, pass: credentials.password };
    const refusal = await this.step((done) => this.smtp.login(login, done));
    return refusal && this.dialogue.outcome(refusal);
  }

  /** Begins something and waits for its end: its own, the connection's or the deadline, whichever comes first. */
  private step(
    begin: (done: Done) => void,
    timeoutMs = this.settings.stepTimeoutMs,
  ): Promise<Error | undefined> {
    return new Promise((resolve) => {
      if (this.end !== undefined) return resolve(this.end);
      const cancelTimeout = startTimeout(timeoutMs, () => {
        this.ended(new Error(`not finished within ${timeoutMs} ms`));
        this.smtp.close();
      });
      const finish: Done = (error) => {
        // A connection that has nothing to do must not hold its last message.
        this.finishStep = NOTHING_TO_FINISH;
        cancelTimeout();
        resolve(error ?? undefined);
      };
      this.finishStep = finish;
      begin(finish);
    });
  }

  /** Each wait has its deadline. */
  private watch(): void {
    this.cancelTimeout();
    const { wait } = this.dialogue;
    if (wait === undefined || this.end !== undefined) return;
    const ms = this.settings.patienceMs[wait];
    this.cancelTimeout = startTimeout(ms, () => {
      this.ended(new Error(`no ${wait === 'connection' ? wait : 'answer'} within ${ms} ms`));
      this.smtp.close();
    });
  }

  private ended(error: Error): void {
    this.cancelTimeout();
    this.end ??= error;
    this.finishStep(this.end);
  }

  /** Closes at once, without a word, and waits until the socket is gone. */
  private async abandon(): Promise<void> {
    const socket = this.smtp._socket;
    this.smtp.close();
    if (socket) socket.destroy();
    await gone(socket);
  }
}
