import type { ConnectionOptions } from 'node:tls';
import type SMTPConnection from 'nodemailer/lib/smtp-connection';
import type { Wait } from './dialogue.ts';
import type { RelayAddresses } from './relay-addresses.ts';
import type { RelayAddress } from './relay-url.ts';

/**
 * What is asked of TLS. `opportunistic`: it is used where it is offered. `required`: nothing is said without it. `verified`: nor to a relay whose
 * certificate is not signed, for its name, by an authority that is trusted.
 */
export type TlsPolicy = 'opportunistic' | 'required' | 'verified';

/** How a connection is made and how long each part of it may take. */
export interface ConnectionSettings {
  readonly address: RelayAddress;
  readonly addresses: RelayAddresses;
  readonly tlsPolicy: TlsPolicy;
  readonly patienceMs: Readonly<Record<Wait, number>>;
  readonly stepTimeoutMs: number;
  readonly quitTimeoutMs: number;
  readonly ehloName: string | undefined;
  readonly tls: ConnectionOptions | undefined;
}

/** No reply of a server needs more; a connection that sends more is given up. */
const MAX_REPLY_BYTES = 64 * 1024;

/** A password is given only to a relay whose certificate is right. */
function judgesCertificate({ address, tlsPolicy }: ConnectionSettings): boolean {
  return tlsPolicy === 'verified' || address.credentials !== undefined;
}

/** Whether STARTTLS that is offered and does not work is no reason to be silent: who listens would have heard it anyway (RFC 7435). */
export function mayTalkInClear(settings: ConnectionSettings): boolean {
  return settings.tlsPolicy === 'opportunistic' && !judgesCertificate(settings);
}

/**
 * The settings in the words of the mailer.
 *
 * @param inClear whether TLS is left out although it is offered
 */
export function mailerOptions(settings: ConnectionSettings, inClear: boolean): SMTPConnection.Options {
  const { address, tlsPolicy } = settings;
  return {
    host: address.host,
    port: address.port,
    secure: address.implicitTls,
    requireTLS: tlsPolicy !== 'opportunistic',
    opportunisticTLS: mayTalkInClear(settings),
    ignoreTLS: inClear,
    name: settings.ehloName,
    tls: { rejectUnauthorized: judgesCertificate(settings), ...settings.tls },
    // Shared out among the addresses; the wait itself is ended by us.
    connectionTimeout: settings.patienceMs.connection,
    socketCloseTimeout: settings.quitTimeoutMs,
    maxResponseSize: MAX_REPLY_BYTES,
  };
}
