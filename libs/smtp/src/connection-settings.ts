import type { ConnectionOptions } from 'node:tls';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Wait } from './dialogue.ts';
import type { RelayAddresses } from './relay-addresses.ts';
import { isTokenLogin, type RelayAddress } from './relay-url.ts';

/**
 * `opportunistic`: TLS is used if the relay offers it. `required`: nothing is sent without TLS. `verified`: moreover, the relay must have a valid certificate for
 * its name from a trusted authority.
 */
export type TlsPolicy = 'opportunistic' | 'required' | 'verified';

/** How to connect, and how long each step may take. */
export interface ConnectionSettings {
  readonly address: RelayAddress;
  readonly addresses: RelayAddresses;
  readonly tlsPolicy: TlsPolicy;
  readonly waitTimeoutMs: Readonly<Record<Wait, number>>;
  readonly stepTimeoutMs: number;
  readonly quitTimeoutMs: number;
  readonly ehloName: string | undefined;
  readonly tls: ConnectionOptions | undefined;
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
