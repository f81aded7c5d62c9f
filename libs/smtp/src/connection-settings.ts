import type { ConnectionOptions } from 'node:tls';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Wait } from './dialogue.ts';
import type { RelayAddresses } from './relay-addresses.ts';
import type { RelayAddress } from './relay-url.ts';

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

/** With a password the certificate is always verified, so that the password cannot be sent to an impostor. */
function verifiesCertificate({ address, tlsPolicy }: ConnectionSettings): boolean {
  return tlsPolicy === 'verified' || address.credentials !== undefined;
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
  const { address, tlsPolicy } = settings;
  return {
    host: address.host,
    port: address.port,
    secure: address.implicitTls,
    requireTLS: tlsPolicy !== 'opportunistic',
    ignoreTLS: plaintext,
    name: settings.ehloName,
    tls: { rejectUnauthorized: verifiesCertificate(settings), ...settings.tls },
    // nodemailer divides this among the addresses. The timeout itself is enforced by RelayConnection.
    connectionTimeout: settings.waitTimeoutMs.connection,
    socketCloseTimeout: settings.quitTimeoutMs,
    maxResponseSize: MAX_REPLY_BYTES,
  };
}
