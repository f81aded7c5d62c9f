import { setImmediate as nextTurnOfTheLoop } from 'node:timers/promises';
import { isAnswered, type Transmission } from '@posthorn/domain';
import { CannotStart } from '@posthorn/kernel';
import type { AccessTokens } from './access-tokens.ts';
import { ConnectionPool, type ConnectionSlot } from './connection-pool.ts';
import {
  connectionSettings,
  type ConnectionSettings,
  type RelayConnectionOptions,
} from './connection-settings.ts';
import { isConnectionDropped, isConnectionRefused, wasStale } from './connection-verdict.ts';
import { openConnection } from './open-connection.ts';
import { RelayConnection } from './relay-connection.ts';
import { isTokenLogin, parseRelayUrl, relayName } from './relay-url.ts';
import { describeTransmission } from './relays/describe-transmission.ts';
import { SERVING_MS } from './relays/relay-breaker.ts';
import type { OnReached, RelayTransport } from './relays/relay-transport.ts';
import type { SmtpEnvelope } from './relays/smtp-envelope.ts';
import { assertSendableEnvelope, assertSendableMessage } from './sendable.ts';

export interface SmtpTransportOptions extends RelayConnectionOptions {
  /** Maximum concurrent connections. Default: 20. */
  readonly maxConnections?: number;
  /** A connection is closed after this many messages. Default: 100. */
  readonly maxMessagesPerConnection?: number;
  /** A connection is closed after having been idle this long. Default: 30 s. */
  readonly idleMs?: number;
  /** How long to use one connection fewer after the relay has rejected one although others are open. Default: 30 s. */
  readonly cooldownMs?: number;
  /** Called when that begins, with the relay's reply. */
  readonly onCrowded?: (reason: string) => void;
  /** For a relay whose URL names a user without a password. */
  readonly accessTokens?: AccessTokens | undefined;
}

/** A successful greeting: the relay would accept emails from us. */
export interface RelayGreeting {
  readonly kind: 'welcome';
  /** Whether the connection is encrypted. */
  readonly isSecured: boolean;
  /** Why STARTTLS failed, although the relay offers it, so that its emails are sent in plaintext. */
  readonly tlsFailure: Transmission | undefined;
  /** `taken`: the login succeeded. `not asked for`: the relay offers no login. `none`: we have no credentials. */
  readonly login: 'taken' | 'not asked for' | 'none';
}

/** Sends through one relay by SMTP, over a pool of reused connections. */
export class SmtpTransport implements RelayTransport {
  private readonly settings: ConnectionSettings;
  private readonly accessTokens: AccessTokens | undefined;
  private readonly pool: ConnectionPool<RelayConnection>;
  private readonly maxMessagesPerConnection: number;
  private readonly cooldownMs: number;
  private readonly onCrowded: (reason: string) => void;
  /** How many connections are being established. */
  private opening = 0;
  /** When the relay last answered about an email. */
  private servedAtMs = Number.NEGATIVE_INFINITY;
  private readonly leaving = new AbortController();
  private closed: Promise<void> | undefined;

  /**
   * @param url one of `SMTP_URL`; see `parseRelayUrl`
   * @throws CannotStart when the URL is invalid, or names a user without a password and there are no access tokens; the message never contains it
   */
  constructor(url: string, options: SmtpTransportOptions = {}) {
    const address = parseRelayUrl(url);
    if (isTokenLogin(address) && options.accessTokens === undefined)
      throw new CannotStart(
        'SMTP_URL names a user without a password: add one, or set SMTP_OAUTH_TOKEN_URL to log in with access tokens',
      );
    this.settings = connectionSettings(address, options, this.leaving.signal);
    this.accessTokens = options.accessTokens;
    this.pool = new ConnectionPool(options.maxConnections ?? 20, options.idleMs ?? 30_000);
    this.maxMessagesPerConnection = options.maxMessagesPerConnection ?? 100;
    this.cooldownMs = options.cooldownMs ?? 30_000;
    this.onCrowded = options.onCrowded ?? ((): void => undefined);
  }

  get name(): string {
    return relayName(this.settings.address);
  }

  /** The bytes of the message are sent as they are, apart from dot-stuffing (RFC 5321, section 4.5.2). */
  send(envelope: SmtpEnvelope, message: Buffer): Promise<Transmission>;
  send(envelope: SmtpEnvelope, message: Buffer, onReached: OnReached): Promise<Transmission | undefined>;
  async send(
    envelope: SmtpEnvelope,
    message: Buffer,
    onReached: OnReached = () => true,
  ): Promise<Transmission | undefined> {
    assertSendableEnvelope(envelope);
    assertSendableMessage(message);
    if (this.closed !== undefined) throw new Error('the transport is closed');
    for (;;) {
      const slot = await this.pool.take();
      if (!onReached('slot')) {
        this.pool.give(slot);
        return undefined;
      }
      const { transmission, isCrowded } = await this.transmitWithSlot(slot, envelope, message, onReached);
      // When we are leaving, none is begun any more; when we are closing, no further slot will become free.
      if (!isCrowded || this.leaving.signal.aborted || this.closed !== undefined) return transmission;
    }
  }

  /** Connects, negotiates TLS, logs in and quits without sending anything. @returns the failure, if that is not possible */
  async greet(): Promise<RelayGreeting | Transmission> {
    const connection = await openConnection(this.settings, this.accessTokens);
    if (!(connection instanceof RelayConnection)) return connection;
    const { isSecured, tlsFailure, isLoggedIn } = connection;
    await connection.quit();
    const hasLogin = this.settings.address.credentials !== undefined;
    return {
      kind: 'welcome',
      isSecured,
      tlsFailure,
      login: hasLogin ? (isLoggedIn ? 'taken' : 'not asked for') : 'none',
    };
  }

  leave(): void {
    this.leaving.abort();
  }

  /** Says QUIT over each connection when its transmission is over. */
  close(): Promise<void> {
    this.closed ??= this.pool.drain();
    return this.closed;
  }

  /** `isCrowded`: the relay rejected this connection while it serves others of ours, so one of those must be waited for. */
  private async transmitWithSlot(
    slot: ConnectionSlot<RelayConnection>,
    envelope: SmtpEnvelope,
    message: Buffer,
    onReached: OnReached,
  ): Promise<{ transmission: Transmission | undefined; isCrowded: boolean }> {
    let transmission: Transmission | undefined;
    let isCrowded = false;
    try {
      transmission = await this.transmit(slot, envelope, message, onReached);
      isCrowded = transmission !== undefined && this.isCrowdedBy(transmission, slot);
      return { transmission, isCrowded };
    } finally {
      // Not awaited: the result is known, and cleaning up the connection need not delay it.
      void (isCrowded ? this.cooldown(slot, transmission!) : this.giveBack(slot, transmission));
    }
  }

  /** Whether the relay rejects this connection because there are others. What it says is believed; silence means that only while it serves the others. */
  private isCrowdedBy(transmission: Transmission, slot: ConnectionSlot<RelayConnection>): boolean {
    const hasOthers = this.pool.hasOtherOpen(slot);
    if (isConnectionRefused(transmission)) return hasOthers || this.opening > 0;
    if (isConnectionDropped(transmission))
      return hasOthers && performance.now() - this.servedAtMs < SERVING_MS;
    if (isAnswered(transmission)) this.servedAtMs = performance.now();
    return false;
  }

  private async cooldown(slot: ConnectionSlot<RelayConnection>, transmission: Transmission): Promise<void> {
    if (this.pool.coolingDownCount === 0) this.onCrowded(describeTransmission(transmission));
    await slot.connection?.quit();
    slot.connection = undefined;
    if (this.closed === undefined) this.pool.cooldown(slot, this.cooldownMs);
    else this.pool.give(slot);
  }

  private async open(): Promise<RelayConnection | Transmission> {
    this.opening += 1;
    try {
      return await openConnection(this.settings, this.accessTokens);
    } finally {
      this.opening -= 1;
    }
  }

  private async transmit(
    slot: ConnectionSlot<RelayConnection>,
    envelope: SmtpEnvelope,
    message: Buffer,
    onReached: OnReached,
  ): Promise<Transmission | undefined> {
    const onEnvelope = (): boolean => onReached('envelope');
    const kept = slot.connection;
    if (kept?.isAlive) {
      const transmission = await kept.send(envelope, message, onEnvelope);
      if (transmission === undefined || !wasStale(transmission)) return transmission;
    }
    await kept?.quit();
    slot.connection = undefined;
    const opened = await this.open();
    if (!(opened instanceof RelayConnection)) return opened;
    slot.connection = opened;
    // Connecting may have taken so long, or this process may have been suspended, that somebody else has claimed the email.
    return onReached('connection') ? opened.send(envelope, message, onEnvelope) : undefined;
  }

  private async giveBack(
    slot: ConnectionSlot<RelayConnection>,
    transmission: Transmission | undefined,
  ): Promise<void> {
    const { connection } = slot;
    if (connection !== undefined) {
      if (transmission !== undefined) await connection.settle(transmission);
      const isExpired = connection.messages >= this.maxMessagesPerConnection;
      if (transmission === undefined || isExpired || !connection.isAlive) {
        await connection.quit();
        slot.connection = undefined;
      }
    }
    // Whoever waits for the slot must know what a failure says about the relay, and our caller judges that first.
    if (transmission?.kind !== 'accepted') await nextTurnOfTheLoop();
    this.pool.give(slot);
  }
}
