import type { ConnectionOptions } from 'node:tls';
import type { Transmission } from '@posthorn/domain';
import { ConnectionPool, type Place } from './connection-pool.ts';
import type { ConnectionSettings, TlsPolicy } from './connection-settings.ts';
import { RelayConnection } from './relay-connection.ts';
import { parseRelayUrl } from './relay-url.ts';
import { assertSendableEnvelope, assertSendableMessage } from './sendable.ts';
import type { SmtpEnvelope, SmtpTransport } from './smtp-transport.ts';

export interface RelayTransportOptions {
  /** How many connections there may be at once. Default: 20. */
  readonly maxConnections?: number;
  /** A connection is closed after this many messages. Default: 100. */
  readonly maxMessagesPerConnection?: number;
  /** A connection is closed after having been idle this long. Default: 30 s. */
  readonly idleMs?: number;
  /** How long finding and reaching the relay may take, with TLS if it is implicit. Default: 30 s. */
  readonly connectionTimeoutMs?: number;
  /** How long the relay may take to greet us. Default: 30 s. */
  readonly greetingTimeoutMs?: number;
  /** How long the relay may take to answer a command. Default: 5 min (RFC 5321, section 4.5.3.2). */
  readonly commandTimeoutMs?: number;
  /**
   * How long the relay may be silent. Default: 10 min, which is what the final dot is to be given: who hangs up earlier
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
  readonly ehloName?: string;
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

/** Sends through one relay, over a few connections that are kept. */
export class RelayTransport implements SmtpTransport {
  private readonly settings: ConnectionSettings;
  private readonly pool: ConnectionPool<RelayConnection>;
  private readonly maxMessagesPerConnection: number;
  private closed: Promise<void> | undefined;

  /**
   * @param url one of `SMTP_URL`; see `parseRelayUrl`
   * @throws when the URL is none; the text never repeats it
   */
  constructor(url: string, options: RelayTransportOptions = {}) {
    this.settings = {
      address: parseRelayUrl(url),
      tlsPolicy: options.tlsPolicy ?? 'opportunistic',
      connectionTimeoutMs: options.connectionTimeoutMs ?? 30_000,
      greetingTimeoutMs: options.greetingTimeoutMs ?? 30_000,
      commandTimeoutMs: options.commandTimeoutMs ?? 300_000,
      socketTimeoutMs: options.socketTimeoutMs ?? 600_000,
      stepTimeoutMs: options.stepTimeoutMs ?? 900_000,
      quitTimeoutMs: options.quitTimeoutMs ?? 2_000,
      ehloName: options.ehloName,
      tls: options.tls,
    };
    this.pool = new ConnectionPool(options.maxConnections ?? 20, options.idleMs ?? 30_000);
    this.maxMessagesPerConnection = options.maxMessagesPerConnection ?? 100;
  }

  /** What operators know the relay by: `host:port`. */
  get name(): string {
    const { host, port } = this.settings.address;
    return `${host}:${port}`;
  }

  async send(envelope: SmtpEnvelope, message: Buffer): Promise<Transmission> {
    assertSendableEnvelope(envelope);
    assertSendableMessage(message);
    if (this.closed !== undefined) throw new Error('the transport is closed');
    const place = await this.pool.take();
    let transmission: Transmission | undefined;
    try {
      transmission = await this.transmit(place, envelope, message);
      return transmission;
    } finally {
      // Not awaited: the answer is known, and what the connection still needs is nobody's wait.
      void this.giveBack(place, transmission);
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

  private async transmit(
    place: Place<RelayConnection>,
    envelope: SmtpEnvelope,
    message: Buffer,
  ): Promise<Transmission> {
    const kept = place.connection;
    if (kept?.isAlive) {
      const transmission = await kept.send(envelope, message);
      if (!wasStale(transmission)) return transmission;
    }
    await kept?.quit();
    place.connection = undefined;
    const opened = await RelayConnection.open(this.settings);
    if (!(opened instanceof RelayConnection)) return opened;
    place.connection = opened;
    return opened.send(envelope, message);
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
