import type { ConnectionOptions } from 'node:tls';
import { isBeforeAnyEmail, type Transmission } from '@posthorn/domain';
import { ConnectionPool, type Place } from './connection-pool.ts';
import type { ConnectionSettings, TlsPolicy } from './connection-settings.ts';
import { describeTransmission } from './relay-chain.ts';
import { type LookUp, RelayAddresses } from './relay-addresses.ts';
import { RelayConnection } from './relay-connection.ts';
import { parseRelayUrl } from './relay-url.ts';
import { assertSendableEnvelope, assertSendableMessage } from './sendable.ts';
import type { MayStillBegin, SmtpEnvelope, SmtpTransport } from './smtp-transport.ts';

export interface RelayTransportOptions {
  /** How many connections there may be at once. Default: 20. */
  readonly maxConnections?: number;
  /** A connection is closed after this many messages. Default: 100. */
  readonly maxMessagesPerConnection?: number;
  /** A connection is closed after having been idle this long. Default: 30 s. */
  readonly idleMs?: number;
  /** After the relay took no further connection beside others of ours, for how long there is one less. Default: 30 s. */
  readonly restMs?: number;
  /** Told when that begins, with what the relay said. */
  readonly onCrowded?: (reason: string) => void;
  /** How long finding and reaching the relay may take, with TLS if it is implicit; and as long again the handshake after STARTTLS. Default: 30 s. */
  readonly connectionTimeoutMs?: number;
  /** How long the relay may take to greet us. Default: 30 s. */
  readonly greetingTimeoutMs?: number;
  /** How long the relay may take to answer a command. Default: 5 min (RFC 5321, section 4.5.3.2). */
  readonly commandTimeoutMs?: number;
  /**
   * How long the relay may be silent, or take to take a message in. Default: 10 min, which is what the final dot is to be given: who hangs up earlier
   * sends twice (RFC 5321, section 4.5.3.2.6).
   */
  readonly socketTimeoutMs?: number;
  /** How long connecting, logging in or sending one message may take as a whole, however lively the relay is. Default: 15 min. */
  readonly stepTimeoutMs?: number;
  /** How long the relay may take to answer QUIT. Default: 2 s. */
  readonly quitTimeoutMs?: number;
  /** Default: `opportunistic`. */
  readonly tlsPolicy?: TlsPolicy;
  /** The name that EHLO gives. Default: the host's, if it is a full name. */
  readonly ehloName?: string | undefined;
  /** How the relay's name is looked up. Default: not at all; Node does so for each connection, and waits for as long as it may. */
  readonly lookUp?: LookUp;
  /** For how long it is not looked up again. Default: 10 s. */
  readonly nameFreshMs?: number;
  /** For a relay whose certificate is signed by an authority of its own. */
  readonly tls?: ConnectionOptions;
}

/** That a relay would take emails from us. */
export interface RelayGreeting {
  readonly kind: 'welcome';
  /** Whether what is said is encrypted. */
  readonly isSecured: boolean;
  /** What it did with our user and password. */
  readonly login: 'taken' | 'not asked for' | 'none';
}

/**
 * Whether this kept connection had been closed, or led nowhere any more: then nothing was said about the email, and
 * nothing accepted, so a fresh connection may be asked.
 */
const wasStale = (transmission: Transmission): boolean =>
  (transmission.kind === 'broken' && transmission.stage === 'mail') ||
  (transmission.kind === 'refused' && transmission.stage === 'mail' && transmission.reply.code === 421);

/** Whether the relay takes no connection just now, as it says before it knows of an email, or as soon as it hears of one. */
const wasTurnedAway = (transmission: Transmission): boolean =>
  transmission.kind === 'refused' &&
  ((isBeforeAnyEmail(transmission.stage) && transmission.reply.code < 500) ||
    (transmission.stage === 'mail' && transmission.reply.code === 421));

/** Sends through one relay, over a few connections that are kept. */
export class RelayTransport implements SmtpTransport {
  private readonly settings: ConnectionSettings;
  private readonly pool: ConnectionPool<RelayConnection>;
  private readonly maxMessagesPerConnection: number;
  private readonly restMs: number;
  private readonly onCrowded: (reason: string) => void;
  /** Connections that are being made. */
  private opening = 0;
  private closed: Promise<void> | undefined;

  /**
   * @param url one of `SMTP_URL`; see `parseRelayUrl`
   * @throws when the URL is none; the text never repeats it
   */
  constructor(url: string, options: RelayTransportOptions = {}) {
    const address = parseRelayUrl(url);
    const connectionTimeoutMs = options.connectionTimeoutMs ?? 30_000;
    const socketTimeoutMs = options.socketTimeoutMs ?? 600_000;
    this.settings = {
      address,
      addresses: new RelayAddresses(address.host, {
        patienceMs: connectionTimeoutMs,
        freshMs: options.nameFreshMs ?? 10_000,
        lookUp: options.lookUp ?? ((host) => Promise.resolve([host])),
      }),
      tlsPolicy: options.tlsPolicy ?? 'opportunistic',
      patienceMs: {
        connection: connectionTimeoutMs,
        greeting: options.greetingTimeoutMs ?? 30_000,
        command: Math.min(options.commandTimeoutMs ?? 300_000, socketTimeoutMs),
        content: socketTimeoutMs,
      },
      stepTimeoutMs: options.stepTimeoutMs ?? 900_000,
      quitTimeoutMs: options.quitTimeoutMs ?? 2_000,
      ehloName: options.ehloName,
      tls: options.tls,
    };
    this.pool = new ConnectionPool(options.maxConnections ?? 20, options.idleMs ?? 30_000);
    this.maxMessagesPerConnection = options.maxMessagesPerConnection ?? 100;
    this.restMs = options.restMs ?? 30_000;
    this.onCrowded = options.onCrowded ?? ((): void => undefined);
  }

  /** What operators know the relay by: `host:port`. */
  get name(): string {
    const { host, port } = this.settings.address;
    return `${host}:${port}`;
  }

  send(envelope: SmtpEnvelope, message: Buffer): Promise<Transmission>;
  send(
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin: MayStillBegin,
  ): Promise<Transmission | undefined>;
  async send(
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin: MayStillBegin = () => true,
  ): Promise<Transmission | undefined> {
    assertSendableEnvelope(envelope);
    assertSendableMessage(message);
    if (this.closed !== undefined) throw new Error('the transport is closed');
    for (;;) {
      const place = await this.pool.take();
      if (!mayStillBegin(false)) {
        this.pool.give(place);
        return undefined;
      }
      const { transmission, isCrowded } = await this.transmitAt(place, envelope, message, mayStillBegin);
      // Once we leave there are no places for those who come.
      if (!isCrowded || this.closed !== undefined) return transmission;
    }
  }

  /** Connects, secures, logs in and takes leave, and sends nothing. @returns what the relay or the network did about it if that fails */
  async greet(): Promise<RelayGreeting | Transmission> {
    const connection = await RelayConnection.open(this.settings);
    if (!(connection instanceof RelayConnection)) return connection;
    const { isSecured, isLoggedIn } = connection;
    await connection.quit();
    const hasLogin = this.settings.address.credentials !== undefined;
    return {
      kind: 'welcome',
      isSecured,
      login: hasLogin ? (isLoggedIn ? 'taken' : 'not asked for') : 'none',
    };
  }

  close(): Promise<void> {
    this.closed ??= this.pool.drain();
    return this.closed;
  }

  /** Crowded: the relay serves others of our connections and takes no further one, so that one of those is to be waited for. */
  private async transmitAt(
    place: Place<RelayConnection>,
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin: MayStillBegin,
  ): Promise<{ transmission: Transmission | undefined; isCrowded: boolean }> {
    let transmission: Transmission | undefined;
    let isCrowded = false;
    try {
      transmission = await this.transmit(place, envelope, message, mayStillBegin);
      isCrowded = transmission !== undefined && wasTurnedAway(transmission) && this.hasOthers(place);
      return { transmission, isCrowded };
    } finally {
      // Not awaited: the answer is known, and what the connection still needs is nobody's wait.
      void (isCrowded ? this.rest(place, transmission!) : this.giveBack(place, transmission));
    }
  }

  /** Whether there are connections beside one that was turned away, or may be soon. */
  private hasOthers(place: Place<RelayConnection>): boolean {
    return this.closed === undefined && (this.opening > 0 || this.pool.isOpenBeside(place));
  }

  private async rest(place: Place<RelayConnection>, transmission: Transmission): Promise<void> {
    if (this.pool.atRest === 0) this.onCrowded(describeTransmission(transmission));
    await place.connection?.quit();
    place.connection = undefined;
    if (this.closed === undefined) this.pool.rest(place, this.restMs);
    else this.pool.give(place);
  }

  private async open(): Promise<RelayConnection | Transmission> {
    this.opening += 1;
    try {
      return await RelayConnection.open(this.settings);
    } finally {
      this.opening -= 1;
    }
  }

  private async transmit(
    place: Place<RelayConnection>,
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin: MayStillBegin,
  ): Promise<Transmission | undefined> {
    const isStillOurs = (): boolean => mayStillBegin(true);
    const kept = place.connection;
    if (kept?.isAlive) {
      const transmission = await kept.send(envelope, message, isStillOurs);
      if (transmission === undefined || !wasStale(transmission)) return transmission;
    }
    await kept?.quit();
    place.connection = undefined;
    const opened = await this.open();
    if (!(opened instanceof RelayConnection)) return opened;
    place.connection = opened;
    // Connecting can have taken so long, or this process stood still for so long, that somebody else has the email.
    return isStillOurs() ? opened.send(envelope, message, isStillOurs) : undefined;
  }

  private async giveBack(
    place: Place<RelayConnection>,
    transmission: Transmission | undefined,
  ): Promise<void> {
    const { connection } = place;
    if (connection !== undefined) {
      if (transmission !== undefined) await connection.settle(transmission);
      const isWornOut = connection.messages >= this.maxMessagesPerConnection;
      if (transmission === undefined || isWornOut || !connection.isAlive) {
        await connection.quit();
        place.connection = undefined;
      }
    }
    this.pool.give(place);
  }
}
