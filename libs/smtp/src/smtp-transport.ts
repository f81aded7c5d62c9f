import type { Transmission } from '@posthorn/domain';

/** From whom and to whom a message goes, as the server is told (RFC 5321, section 3.3): one recipient, bare addresses. */
export interface SmtpEnvelope {
  readonly from: string;
  readonly to: string;
  /** Which reports are asked for of a server that offers it (RFC 3461); absent: those that it sends by itself. */
  readonly reports?: RequestedReports | undefined;
}

/** What a server is asked to report to the sender of the envelope, with the headers of the message and not all of it. */
export interface RequestedReports {
  /** By which reports name the message: 1 to 100 letters, digits, `_`, `.`, `@` and `-`. */
  readonly envelopeId: string;
  readonly of: readonly ReportedFact[];
}

/** That a recipient cannot be reached, that it takes longer, or that the message was delivered. */
export type ReportedFact = 'FAILURE' | 'DELAY' | 'SUCCESS';

/** Whether a message may be transmitted at this moment. `isConnected`: there is a connection to the relay for it. */
export type MayStillBegin = (isConnected: boolean) => boolean;

/** The way out: whoever sends email asks for this and not for a socket. */
export interface SmtpTransport {
  /**
   * Transmits a message once. What a server or the network does is the answer, never an exception.
   *
   * @param message the bytes that leave, in lines that end in CRLF; only dots are stuffed (RFC 5321, section 4.5.2)
   * @param mayStillBegin asked when there is a place for it, which may have to be waited for, again when a connection had to be made, and at last when
   *   the relay has said yes to the envelope; undefined is given back when it may not
   * @throws for faults of our own: an envelope or message that must not be sent, a transport that is closed
   */
  send(
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin?: MayStillBegin,
  ): Promise<Transmission | undefined>;

  /** Waits for what is in flight, takes leave of the server (QUIT) and leaves no handle open. */
  close(): Promise<void>;
}
