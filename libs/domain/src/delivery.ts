/** Where in the dialogue (RFC 5321, section 4.1; RFC 3207; RFC 4954) something happened. */
export type SmtpStage =
  'connect' | 'greeting' | 'ehlo' | 'starttls' | 'auth' | 'mail' | 'rcpt' | 'data' | 'content';

const BEFORE_ANY_EMAIL: readonly SmtpStage[] = ['connect', 'greeting', 'ehlo', 'starttls', 'auth'];

/** Whether nothing about an email has been said yet at this stage: what fails there is the relay's fault (decision 9). */
export function isBeforeAnyEmail(stage: SmtpStage): boolean {
  return BEFORE_ANY_EMAIL.includes(stage);
}

/** A server's reply: its code (RFC 5321, section 4.2), enhanced code if it gave one (RFC 3463), and text, bounded and without controls. */
export interface SmtpReply {
  readonly code: number;
  readonly enhancedCode?: string;
  readonly text: string;
}

/** What became of one transmission, as the transport saw it. Each is an answer to be decided upon, never an exception. */
export type Transmission =
  /** The final dot was answered with 2xx: the relay has it. */
  | { readonly kind: 'accepted'; readonly reply: SmtpReply }
  /** The server said no at this stage: nothing was accepted. */
  | { readonly kind: 'refused'; readonly stage: SmtpStage; readonly reply: SmtpReply }
  /** The connection failed at this stage, before the message was written to its end: nothing was accepted. `isOurs`: for want of something of this machine. */
  | {
      readonly kind: 'broken';
      readonly stage: SmtpStage;
      readonly error: string;
      readonly isOurs?: true;
    }
  /** The message was written to its end and no reply came: the relay may have it. */
  | { readonly kind: 'unknown'; readonly error: string };

/** A transmission, and the relay that it was tried by: what operators know it by. */
export type RelayedTransmission = Transmission & { readonly relay?: string };

/** What is to be done after a transmission. The database adds its own `now()` to an `afterSeconds`. */
export type Verdict =
  | { readonly kind: 'sent' }
  /** The receiving side refused the recipient for good; `suppresses`: so that the address belongs on the suppression list (S19). */
  | { readonly kind: 'bounced'; readonly suppresses: boolean }
  /** Given up for another reason: the content or sender was refused for good, or the retries are used up. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'retry'; readonly afterSeconds: number; readonly duplicatePossible: boolean }
  /** The fault is the relay's, not the email's: its breaker opens, and the email waits without losing an attempt. */
  | { readonly kind: 'relay_unavailable' };
