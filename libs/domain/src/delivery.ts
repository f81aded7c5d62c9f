/** The stages of an SMTP session (RFC 5321, section 4.1; RFC 3207; RFC 4954), in their order. */
export const SMTP_STAGES = [
  'connect',
  'greeting',
  'ehlo',
  'starttls',
  'auth',
  'mail',
  'rcpt',
  'data',
  'content',
] as const;

export type SmtpStage = (typeof SMTP_STAGES)[number];

const BEFORE_ANY_EMAIL: readonly SmtpStage[] = ['connect', 'greeting', 'ehlo', 'starttls', 'auth'];

/** Whether a stage comes before anything about an email is sent: a failure there is the relay's (decision 9). */
export function isBeforeAnyEmail(stage: SmtpStage): boolean {
  return BEFORE_ANY_EMAIL.includes(stage);
}

/** A server's reply: code (RFC 5321, section 4.2), enhanced code if there is one (RFC 3463), and sanitized text. */
export interface SmtpReply {
  readonly code: number;
  readonly enhancedCode?: string;
  readonly text: string;
}

/** The outcome of a transmission, as the transport observed it; failures of the other side are values, not exceptions. */
export type Transmission =
  /** The final dot was answered with 2xx: the relay has the email. */
  | { readonly kind: 'accepted'; readonly reply: SmtpReply }
  /**
   * The server refused at this stage: nothing was accepted. `servesOthers`: it accepts other emails of ours at the time, so it does not refuse us. `unasked`: the
   * reply is our own, because by what the server has announced it could not take the email; it was not asked. `othersUnavailable`: other relays, which cannot be
   * tried now, may be able to take it.
   */
  | {
      readonly kind: 'refused';
      readonly stage: SmtpStage;
      readonly reply: SmtpReply;
      readonly servesOthers?: true;
      readonly unasked?: true;
      readonly othersUnavailable?: true;
    }
  /** The connection failed at this stage, before the whole message was written: nothing was accepted. `isOurs`: this machine lacked a resource. */
  | {
      readonly kind: 'broken';
      readonly stage: SmtpStage;
      readonly error: string;
      readonly isOurs?: true;
    }
  /** The whole message was written and no reply came: the relay may have the email. */
  | { readonly kind: 'unknown'; readonly error: string };

/** Whether the relay has answered about the email. */
export function isAnswered(transmission: Transmission): boolean {
  if (transmission.kind !== 'refused') return transmission.kind === 'accepted';
  return !transmission.unasked && !isBeforeAnyEmail(transmission.stage);
}

/** A transmission and the relay that it went to, by the name that operators know. */
export type RelayedTransmission = Transmission & { readonly relay: string };

/** What happens to an email after a transmission. `afterSeconds` is added to the database's `now()`. */
export type Verdict =
  | { readonly kind: 'sent' }
  /** The receiving side refused the recipient permanently; `suppresses`: the address goes on the suppression list (S19). */
  | { readonly kind: 'bounced'; readonly suppresses: boolean }
  /** Given up for another reason: the content or sender was refused permanently, or the retries are exhausted. */
  | { readonly kind: 'failed' }
  | { readonly kind: 'retry'; readonly afterSeconds: number; readonly duplicatePossible: boolean }
  /** The relay failed, not the email: its circuit breaker opens, and the email waits without using up an attempt. */
  | { readonly kind: 'relay_unavailable' };
