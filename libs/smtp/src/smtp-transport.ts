import type { Transmission } from '@posthorn/domain';

/** The SMTP envelope of a message (RFC 5321, section 3.3): one recipient, bare addresses. */
export interface SmtpEnvelope {
  readonly from: string;
  readonly to: string;
  /** The delivery reports to request if the server offers DSN (RFC 3461); absent: its defaults. */
  readonly reports?: RequestedReports | undefined;
}

/** Delivery reports to the sender of the envelope, with only the headers of the message (RET=HDRS). */
export interface RequestedReports {
  /** Identifies the message in reports: 1 to 100 letters, digits, `_`, `.`, `@` and `-`. */
  readonly envelopeId: string;
  readonly of: readonly ReportedFact[];
}

/** That a recipient cannot be reached, that it takes longer, or that the message was delivered. */
export type ReportedFact = 'FAILURE' | 'DELAY' | 'SUCCESS';

/** What a message has got so far: the right to a connection, a connection to the relay, or the relay's consent, since it has accepted the envelope. */
export type Reached = 'slot' | 'connection' | 'envelope';

/** Called with what a message has reached; returns whether to go on. */
export type OnReached = (reached: Reached) => boolean;

/** Transmits messages to a server. */
export interface SmtpTransport {
  /**
   * Transmits a message once. Failures of the server or the network are results, never exceptions.
   *
   * @param message sent as it is, apart from dot-stuffing (RFC 5321, section 4.5.2); its lines must end in CRLF
   * @param onReached called when a slot is free, again after connecting, and finally when the relay has accepted the envelope
   * @returns undefined when `onReached` returned false
   * @throws for our own faults: an envelope or message that must not be sent, a closed transport
   */
  send(envelope: SmtpEnvelope, message: Buffer, onReached?: OnReached): Promise<Transmission | undefined>;

  /** Waits for transmissions in flight, sends QUIT, and closes all connections. */
  close(): Promise<void>;
}
