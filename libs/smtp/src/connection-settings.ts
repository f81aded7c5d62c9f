import type { ConnectionOptions } from 'node:tls';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Wait } from './dialogue.ts';
import { type LookUp, RelayAddresses } from './relay-addresses.ts';
import { isTokenLogin, type RelayAddress } from './relay-url.ts';

/**
 * `opportunistic`: TLS is used if the relay offers it. `required`: nothing is sent without TLS. `verified`: moreover, the relay must have a valid certificate for
 * its name from a trusted authority.
 */
export type TlsPolicy = 'opportunistic' | 'required' | 'verified';

/** How to connect, and how long each step may take. */
export interface RelayConnectionOptions {
  /** How long DNS look-up and connecting may take, including implicit TLS; also, separately, the handshake after STARTTLS. Default: 30 s. */
  readonly connectionTimeoutMs?: number;
  /** How long the relay may take to greet us, or to answer MAIL over a kept connection, which may lead nowhere any more. Default: 30 s. */
  readonly greetingTimeoutMs?: number;
  /** How long the relay may take to reply to a command. Default: 5 min (RFC 5321, section 4.5.3.2). */
  readonly commandTimeoutMs?: number;
  /**
   * How long the relay may be silent: read nothing of a message, or not reply after the final dot. Default: 10 min, as required there: hanging up
   * earlier leads to duplicates (RFC 5321, section 4.5.3.2.6).
   */
  readonly socketTimeoutMs?: number;
  /**
   * How long connecting, logging in or sending one message may take in total, even if the relay keeps replying; a message that would take longer at
   * 16 kbit/s may take that long. Default: 15 min.
   */
  readonly stepTimeoutMs?: number;
  /** How long the relay may take to reply to QUIT. Default: 2 s. */
  readonly quitTimeoutMs?: number;
  /** Default: `opportunistic`. */
  readonly tlsPolicy?: TlsPolicy;
  /** The name for EHLO. Default: the host name, if fully qualified. */
  readonly ehloName?: string | undefined;
  /** Looks up the relay's name. Default: Node does, for each connection and with its own timeouts. */
  readonly lookUp?: LookUp;
  /** How long the result of a look-up is cached. Default: 10 s. */
  readonly nameFreshMs?: number;
  /** For a relay whose certificate is signed by a private authority. */
  readonly tls?: ConnectionOptions;
}

/** The options with their defaults. */
export interface ConnectionSettings {
  readonly address: RelayAddress;
  readonly addresses: RelayAddresses;
  readonly tlsPolicy: TlsPolicy;
  readonly waitTimeoutMs: Readonly<Record<Wait, number>>;
  readonly stepTimeoutMs: number;
  readonly quitTimeoutMs: number;
  readonly ehloName: string | undefined;
  readonly tls: ConnectionOptions | undefined;
  /** Aborted when no answer is to be waited for any more, except that to a message. */
  readonly leaving: AbortSignal;
}

/** The settings of connections to this relay. */
export function connectionSettings(
  address: RelayAddress,
  options: RelayConnectionOptions,
  leaving: AbortSignal,
): ConnectionSettings {
  const { connectionTimeoutMs = 30_000, greetingTimeoutMs = 30_000, socketTimeoutMs = 600_000 } = options;
  const commandTimeoutMs = Math.min(options.commandTimeoutMs ?? 300_000, socketTimeoutMs);
  return {
    address,
    addresses: new RelayAddresses(address.host, {
      waitTimeoutMs: connectionTimeoutMs,
      freshMs: options.nameFreshMs ?? 10_000,
      lookUp: options.lookUp ?? ((host) => Promise.resolve([host])),
    }),
    tlsPolicy: options.tlsPolicy ?? 'opportunistic',
    waitTimeoutMs: {
      connection: connectionTimeoutMs,
      greeting: greetingTimeoutMs,
      reused: Math.min(greetingTimeoutMs, commandTimeoutMs),
      command: commandTimeoutMs,
      content: socketTimeoutMs,
    },
    stepTimeoutMs: options.stepTimeoutMs ?? 900_000,
    quitTimeoutMs: options.quitTimeoutMs ?? 2_000,
    ehloName: options.ehloName,
    tls: options.tls,
    leaving,
  };
}

/** Far more than any legitimate reply; a connection that sends more is closed. */
const MAX_REPLY_BYTES = 64 * 1024;

/** With a login the certificate is always verified, so that no password or token can be sent to an impostor. */
function verifiesCertificate({ address, tlsPolicy }: ConnectionSettings): boolean {
  return tlsPolicy === 'verified' || address.credentials !== undefined;
}

/** An access token must not be sent without TLS (RFC 6750, section 5.3). */
function requiresTls({ address, tlsPolicy }: ConnectionSettings): boolean {
  return tlsPolicy !== 'opportunistic' || isTokenLogin(address);
}

/** Whether to continue in plaintext when STARTTLS fails: opportunistic security, which an active attacker could defeat anyway (RFC 7435). */
export function mayUsePlaintext(settings: ConnectionSettings): boolean {
  return settings.tlsPolicy === 'opportunistic' && !verifiesCertificate(settings);
}

/**
 * The settings as nodemailer's options.
 *
 * @param plaintext whether not to use TLS even if it is offered
 */
export function mailerOptions(settings: ConnectionSettings, plaintext: boolean): SMTPConnection.Options {
  const { address } = settings;
  return {
    host: address.host,
    port: address.port,
    secure: address.implicitTls,
    requireTLS: requiresTls(settings),
    ignoreTLS: plaintext,
    name: settings.ehloName,
    tls: { rejectUnauthorized: verifiesCertificate(settings), ...settings.tls },
    // nodemailer divides this among the addresses. The timeout itself is enforced by RelayConnection.
    connectionTimeout: settings.waitTimeoutMs.connection,
    socketCloseTimeout: settings.quitTimeoutMs,
    maxResponseSize: MAX_REPLY_BYTES,
  };
}
