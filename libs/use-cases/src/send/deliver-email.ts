import { decideAfterAttempt, type Transmission, type WithheldReason } from '@posthorn/domain';
import { type ClaimedEmail, type EmailOutcome, isOutage } from '@posthorn/database';
import { RenderingFailed, UncomposableMessage } from '@posthorn/rendering';
import { type RelayBreaker, type SmtpTransport } from '@posthorn/smtp';
import { type ComposeEmail } from './compose-email.ts';
import { outcomeOf, outcomeWithheld, outcomeWithoutMessage, type Unmade } from './outcome-of.ts';
import { type WithheldRecipients } from './withheld-recipients.ts';

const INTERNAL: Unmade = { reason: 'internal', isLasting: false };
const UNCOMPOSABLE: Unmade = { reason: 'uncomposable', isLasting: true };
const MOST_ERROR_CHARACTERS = 512;

export interface DeliverEmailOptions {
  readonly composer: Pick<ComposeEmail, 'compose'>;
  readonly recipients: Pick<WithheldRecipients, 'whyWithheld'>;
  readonly transport: Pick<SmtpTransport, 'send'>;
  readonly breaker: RelayBreaker;
  /** Told of faults of our own. */
  readonly onError: (error: unknown) => void;
  /** Told when the relay refuses us or cannot be reached, each time that its breaker opens (again, after a probe that failed), and when it is back. */
  readonly onRelay: (event: { readonly isAvailable: boolean; readonly reason?: string }) => void;
}

/** Delivers one claimed email to the relay. */
export class DeliverEmail {
  constructor(private readonly options: DeliverEmailOptions) {}

  /**
   * What became of the email; undefined: nothing, because it may not be begun just now, and it costs the email no attempt.
   *
   * @param mayStillBegin whether the email is still ours, asked when its message is ready
   */
  async deliver(email: ClaimedEmail, mayStillBegin: () => boolean): Promise<EmailOutcome | undefined> {
    if (this.options.breaker.retryAfterMs > 0) return undefined;
    if (email.withheldFor !== null) return outcomeWithheld(email, email.withheldFor);
    const message = await this.composed(email);
    if (!Buffer.isBuffer(message)) return message;
    const withheldFor = await this.whyWithheld(email);
    if (withheldFor === 'unknown') return undefined;
    if (withheldFor !== null) return outcomeWithheld(email, withheldFor);
    if (!mayStillBegin() || this.options.breaker.mayBegin() === 'no') return undefined;
    const transmission = await this.transmit(email, message);
    if (transmission === undefined) return outcomeWithoutMessage(email, INTERNAL);
    const verdict = decideAfterAttempt(transmission, email.attempts);
    if (verdict.kind === 'relay_unavailable') return this.relayFailed(transmission);
    this.relayAnswered();
    return outcomeOf(email, message, transmission, verdict);
  }

  /** Undefined: what it is made of cannot be read just now. */
  private async composed(email: ClaimedEmail): Promise<Buffer | EmailOutcome | undefined> {
    try {
      return await this.options.composer.compose(email);
    } catch (error) {
      if (error instanceof RenderingFailed) return outcomeWithoutMessage(email, unrendered(error));
      if (error instanceof UncomposableMessage) return outcomeWithoutMessage(email, UNCOMPOSABLE);
      this.options.onError(error);
      return isOutage(error) ? undefined : outcomeWithoutMessage(email, INTERNAL);
    }
  }

  /** Asked when the message is ready: making it can have taken long. What cannot be asked is not sent for the time being. */
  private async whyWithheld(email: ClaimedEmail): Promise<WithheldReason | 'unknown' | null> {
    try {
      return await this.options.recipients.whyWithheld(email);
    } catch (error) {
      this.options.onError(error);
      return 'unknown';
    }
  }

  /** Undefined: a fault of our own, found before anything was said to the relay. If this was its probe, the breaker gives it up by itself. */
  private async transmit(email: ClaimedEmail, message: Buffer): Promise<Transmission | undefined> {
    try {
      return await this.options.transport.send({ from: email.from.address, to: email.to.address }, message);
    } catch (error) {
      this.options.onError(error);
      return undefined;
    }
  }

  private relayFailed(transmission: Transmission): undefined {
    const { breaker, onRelay } = this.options;
    const wasOpen = breaker.state === 'open';
    breaker.failed();
    if (!wasOpen) onRelay({ isAvailable: false, reason: describe(transmission) });
  }

  private relayAnswered(): void {
    const { breaker, onRelay } = this.options;
    const wasClosed = breaker.state === 'closed';
    breaker.succeeded();
    if (!wasClosed) onRelay({ isAvailable: true });
  }
}

/** What threw or became too large does so again; all else can be for want of time or memory just now. */
function unrendered({ reason, message }: RenderingFailed): Unmade {
  const error = message.slice(0, MOST_ERROR_CHARACTERS);
  return { reason: `rendering_${reason}`, error, isLasting: reason === 'too_large' || reason === 'fault' };
}

function describe(transmission: Transmission): string {
  switch (transmission.kind) {
    case 'refused':
      return `${transmission.stage}: ${transmission.reply.code} ${transmission.reply.text}`;
    case 'broken':
      return `${transmission.stage}: ${transmission.error}`;
    case 'accepted':
    case 'unknown':
      return transmission.kind;
  }
}
