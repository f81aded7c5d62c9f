import type { Transmission } from '@posthorn/domain';
import type { SmtpEnvelope } from './smtp-envelope.ts';

/** What a message has got so far: the right to a connection, a connection to the relay, or the relay's consent, since it has accepted the envelope. */
type Reached = 'slot' | 'connection' | 'envelope';

/** Called with what a message has reached; returns whether to go on. */
export type OnReached = (reached: Reached) => boolean;

/** How one relay is reached: all that `RelayChain` knows of it, whatever its protocol. */
export interface RelayTransport {
  /** The name of the relay for operators: `host:port`. */
  readonly name: string;

  /**
   * Transmits a message once. Failures of the relay or the network are results, never exceptions, and in the terms of SMTP, which are those of the rules. After
   * `broken` another relay may be tried at once: once the relay may have the whole message, a missing answer is `unknown`.
   *
   * @param message sent as it is; its lines end in CRLF
   * @param onReached called when a slot is free; also after connecting, and when the relay has accepted the envelope, if the message has not left by then
   * @returns undefined when `onReached` returned false
   * @throws for our own faults: an envelope or message that must not be sent, a closed transport
   */
  send(envelope: SmtpEnvelope, message: Buffer, onReached: OnReached): Promise<Transmission | undefined>;

  /** Breaks off every transmission whose message is not on its way yet, whatever the relay is doing; the others go on. */
  leave(): void;

  /** Waits for transmissions in flight, and closes all connections. */
  close(): Promise<void>;
}
