import { isAscii } from 'node:buffer';
import type { Socket } from 'node:net';
import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Transmission } from '@posthorn/domain';
import { startTimeout } from '@posthorn/kernel';
import type { PooledConnection } from './connection-pool.ts';
import { type ConnectionSettings, mailerOptions, mayUsePlaintext } from './connection-settings.ts';
import { Dialogue } from './dialogue.ts';
import { type Login, mailerLogin, mailerLoginOptions, mechanismsOf } from './login.ts';
import { Mailer } from './mailer.ts';
import { loginMissing, messageTooLarge, SMTPUTF8_MISSING } from './own-refusals.ts';
import { AddressSearch } from './relay-addresses.ts';
import type { RequestedReports, SmtpEnvelope } from './relays/smtp-envelope.ts';
import { redactionOf } from './reply.ts';
import { needsSmtpUtf8 } from './sendable.ts';

type Done = (error?: Error | null) => void;

const ALWAYS = (): boolean => true;
const NO_STEP: Done = () => undefined;
/** The slowest rate at which a large message may leave, 16 kbit/s; at that rate it may take longer than any other step. */
const MIN_BYTES_PER_MS = 2;

/** Whether another server of the relay would fail in the same way: our login was rejected, or this machine lacks resources. */
const isAboutUs = (failure: Transmission): boolean =>
  failure.kind === 'refused'
    ? failure.stage === 'auth' && failure.reply.code >= 500
    : failure.kind === 'broken' && failure.isOurs === true;

/** nodemailer rejects messages larger than the server has announced, before it sends anything (RFC 1870, section 6.1). */
const isTooLarge = (error: Error): boolean =>
  'code' in error &&
  error.code === 'EMESSAGE' &&
  'command' in error &&
  error.command === 'MAIL FROM' &&
  !('response' in error);

/** How a connection ends when nothing has failed: it was closed, by us or by the server. */
const CLOSED_NORMALLY = new Error('the connection was closed');
/** How it ends when this process shuts down before it has come to a message. */
const LEFT = new Error('this process is shutting down');

/** DSN options for nodemailer, which uses them only if the server offers DSN (RFC 3461, section 4). */
const dsnOf = ({ envelopeId, of }: RequestedReports): SMTPConnection.DSNOptions => ({
  ret: 'HDRS',
  envid: envelopeId,
  notify: [...of],
});

async function gone(socket: Socket | false | null): Promise<void> {
  if (socket && !socket.closed) await new Promise((resolve) => socket.once('close', resolve));
}

/** One connection to the relay, for one message at a time. */
export class RelayConnection implements PooledConnection {
  private readonly dialogue: Dialogue;
  private readonly smtp: Mailer;
  private end: Error | undefined;
  private finishStep: Done = NO_STEP;
  /** Cancels the timeout of the current wait of the dialogue. */
  private cancelTimeout: () => void = NO_STEP;
  /** Why it could not be established. */
  private failure: Transmission | undefined;
  /** How many messages have been begun on it. */
  messages = 0;

  /**
   * Connects, negotiates TLS and logs in; resolves with the failure if that is not possible. If the relay has several addresses, those are tried one after the
   * other (RFC 5321, section 5.1).
   */
  static async open(
    settings: ConnectionSettings,
    login: Login | undefined,
  ): Promise<RelayConnection | Transmission> {
    const addresses = new AddressSearch(settings.addresses);
    for (;;) {
      const connection = await RelayConnection.attempt(settings, login, addresses);
      const { failure } = connection;
      if (failure === undefined) return connection;
      if (isAboutUs(failure) || !addresses.failedAt(connection.smtp.reached)) return failure;
    }
  }

  private static async attempt(
    settings: ConnectionSettings,
    login: Login | undefined,
    addresses: AddressSearch,
  ): Promise<RelayConnection> {
    const connection = await new RelayConnection(settings, login, addresses).establish();
    const { failure } = connection;
    const hasBrokenTls = failure !== undefined && 'stage' in failure && failure.stage === 'starttls';
    return hasBrokenTls && mayUsePlaintext(settings)
      ? new RelayConnection(settings, login, addresses, failure).establish()
      : connection;
  }

  private constructor(
    private readonly settings: ConnectionSettings,
    private readonly login: Login | undefined,
    addresses: AddressSearch,
    /** Why STARTTLS, which the relay offers, is not used; undefined: it is, if it is offered. */
    readonly tlsFailure?: Transmission,
  ) {
    this.dialogue = new Dialogue(redactionOf(login), () => this.watch());
    const logging = { logger: this.dialogue.log, transactionLog: true };
    this.smtp = new Mailer(
      { ...mailerOptions(settings, tlsFailure !== undefined), ...mailerLoginOptions(login), ...logging },
      addresses,
      this.dialogue,
    );
    this.smtp.on('error', (error: Error) => this.ended(error));
    this.smtp.on('end', () => this.ended(CLOSED_NORMALLY));
    settings.leaving.addEventListener('abort', this.leave);
  }

  /** Whether the connection is encrypted. */
  get isSecured(): boolean {
    return this.smtp.secure;
  }

  /** Whether the relay has accepted our login. */
  get isLoggedIn(): boolean {
    return this.login !== undefined && this.smtp.allowsAuth;
  }

  get isAlive(): boolean {
    return this.end === undefined && !this.smtp.destroyed;
  }

  /**
   * Transmits a message; see `SmtpTransport.send`.
   *
   * @param onEnvelope called when the relay has accepted the envelope; if it returns false, the message is withheld and the result is undefined
   */
  async send(
    envelope: SmtpEnvelope,
    message: Buffer,
    onEnvelope: () => boolean,
  ): Promise<Transmission | undefined> {
    this.messages += 1;
    this.dialogue.beginMessage();
    this.smtp.messageIsUtf8 = needsSmtpUtf8(envelope, message);
    if (this.smtp.messageIsUtf8 && !this.dialogue.offersSmtpUtf8) return SMTPUTF8_MISSING;
    this.smtp.onEnvelope = onEnvelope;
    this.smtp.wasWithheld = false;
    const mailerEnvelope = {
      from: envelope.from,
      to: [envelope.to],
      size: message.length,
      use8BitMime: !isAscii(message),
      ...(envelope.reports && { dsn: dsnOf(envelope.reports) }),
    };
    const timeoutMs = Math.max(this.settings.stepTimeoutMs, Math.ceil(message.length / MIN_BYTES_PER_MS));
    const error = await this.step((done) => this.smtp.send(mailerEnvelope, message, done), timeoutMs);
    // An idle connection must not retain its last email.
    this.smtp.onEnvelope = ALWAYS;
    if (error !== undefined && isTooLarge(error))
      return messageTooLarge(message.length, this.smtp.maxMessageBytes);
    return this.smtp.wasWithheld && !this.dialogue.hasFailed ? undefined : this.dialogue.outcome(error);
  }

  /** Prepares the connection for another message, or closes it: afterwards it is alive only if it can be reused. */
  async settle(transmission: Transmission): Promise<void> {
    const isReusable = transmission.kind === 'accepted' || transmission.kind === 'refused';
    if (!isReusable || !this.isAlive || !this.dialogue.isIdle) return this.abort();
    // After a refused recipient the transaction is still open, so that a second MAIL would be refused (RFC 5321, section 4.1.4).
    if (transmission.kind === 'refused' && (await this.reset()) !== undefined) return this.abort();
    // A surplus reply must not be taken for the reply to the next message; nodemailer reads it one turn of the event loop later.
    await nextTurnOfTheLoop();
    await nextTurnOfTheLoop();
  }

  async quit(): Promise<void> {
    if (!this.isAlive) return this.abort();
    const socket = this.smtp._socket;
    this.settings.leaving.removeEventListener('abort', this.leave);
    const end = await this.lastStep(() => this.smtp.quit(), this.settings.quitTimeoutMs);
    if (end !== CLOSED_NORMALLY) return this.abort();
    // Wait until the server has closed its side too, so that there is never one connection too many; nodemailer has a timeout for that.
    await gone(socket);
  }

  /** Sends RSET, with the timeout of any command. */
  private reset(): Promise<Error | undefined> {
    return this.step((done) => this.smtp.reset(done), this.settings.waitTimeoutMs.command);
  }

  private async establish(): Promise<this> {
    this.failure = await this.connect();
    if (this.failure !== undefined) await this.abort();
    return this;
  }

  private async connect(): Promise<Transmission | undefined> {
    const { login } = this;
    this.watch();
    const error = await this.step((done) => this.smtp.connect(done));
    if (error !== undefined) return this.dialogue.outcome(error);
    // As is usual: without AUTH offered we do not log in; a relay that requires a login will say so at MAIL.
    if (login === undefined || !this.smtp.allowsAuth) return undefined;
    const usable = mechanismsOf(login);
    const others = this.smtp.mechanismsBeside(usable);
    if (others !== undefined) return loginMissing(usable, others);
    const refusal = await this.step((done) => this.smtp.login(mailerLogin(login), done));
    return refusal && this.dialogue.outcome(refusal);
  }

  /** As `lastStep`, but begins nothing when this process is leaving. */
  private step(
    begin: (done: Done) => void,
    timeoutMs = this.settings.stepTimeoutMs,
  ): Promise<Error | undefined> {
    if (this.settings.leaving.aborted) this.ended(LEFT);
    return this.lastStep(begin, timeoutMs);
  }

  /** Begins a step and waits until it is done, the connection ends, or the timeout expires. */
  private lastStep(begin: (done: Done) => void, timeoutMs: number): Promise<Error | undefined> {
    return new Promise((resolve) => {
      if (this.end !== undefined) return resolve(this.end);
      const cancelTimeout = startTimeout(timeoutMs, () => {
        this.ended(new Error(`not finished within ${timeoutMs} ms`));
        this.smtp.close();
      });
      const finish: Done = (error) => {
        // An idle connection must not retain its last message.
        this.finishStep = NO_STEP;
        cancelTimeout();
        resolve(error ?? undefined);
      };
      this.finishStep = finish;
      begin(finish);
    });
  }

  /** Ends the step under way, unless that is a message whose answer must be known. A connection that is kept says QUIT later. */
  private readonly leave = (): void => {
    if (this.finishStep === NO_STEP || this.dialogue.wait === 'content') return;
    this.ended(LEFT);
    this.smtp.close();
  };

  /** Restarts the timeout for what the dialogue is waiting for now. */
  private watch(): void {
    this.cancelTimeout();
    const { wait } = this.dialogue;
    if (wait === undefined || this.end !== undefined) return;
    const ms = this.settings.waitTimeoutMs[wait];
    this.cancelTimeout = startTimeout(ms, () => {
      this.ended(new Error(`no ${wait === 'connection' ? wait : 'answer'} within ${ms} ms`));
      this.smtp.close();
    });
  }

  private ended(error: Error): void {
    this.settings.leaving.removeEventListener('abort', this.leave);
    this.cancelTimeout();
    this.end ??= error;
    this.finishStep(this.end);
  }

  /** Closes the connection without QUIT; resolves when the socket is closed. */
  private async abort(): Promise<void> {
    const socket = this.smtp._socket;
    this.smtp.close();
    if (socket) socket.destroy();
    await gone(socket);
  }
}
