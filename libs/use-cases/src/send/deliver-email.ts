import { decideAfterAttempt, type Transmission } from '@posthorn/domain';
import { type ClaimedEmail, type EmailOutcome } from '@posthorn/database';
import { RenderingFailed, UncomposableMessage } from '@posthorn/rendering';
import { type RelayBreaker, type SmtpTransport } from '@posthorn/smtp';
import { type ComposeEmail } from './compose-email.ts';
import { outcomeOf, outcomeWithoutMessage } from './outcome-of.ts';

export interface DeliverEmailOptions {
  readonly composer: Pick<ComposeEmail, 'compose'>;
  readonly transport: Pick<SmtpTransport, 'send'>;
  readonly breaker: RelayBreaker;
  /** Told when the relay refuses us or cannot be reached, each time that its breaker opens (again, after a probe that failed), and when it is back. */
  readonly onRelay: (event: { readonly isAvailable: boolean; readonly reason?: string }) => void;
}

/** Delivers one claimed email to the relay. */
export class DeliverEmail {
  constructor(private readonly options: DeliverEmailOptions) {}

  /** What became of the email; undefined: nothing, because the relay cannot be used just now, and it costs the email no attempt. */
  async deliver(email: ClaimedEmail): Promise<EmailOutcome | undefined> {
    const message = await this.composed(email);
    if (!Buffer.isBuffer(message)) return message;
    if (this.options.breaker.mayBegin() === 'no') return undefined;
    const transmission = await this.transmit(email, message);
    const verdict = decideAfterAttempt(transmission, email.attempts);
    if (verdict.kind === 'relay_unavailable') return this.relayFailed(transmission);
    this.relayAnswered();
    return outcomeOf(email, message, transmission, verdict);
  }

  private async composed(email: ClaimedEmail): Promise<Buffer | EmailOutcome> {
    try {
      return await this.options.composer.compose(email);
    } catch (error) {
      if (error instanceof RenderingFailed)
        return outcomeWithoutMessage(email, `rendering_${error.reason}`, false);
      if (error instanceof UncomposableMessage) return outcomeWithoutMessage(email, 'uncomposable', true);
      throw error;
    }
  }

  private async transmit(email: ClaimedEmail, message: Buffer): Promise<Transmission> {
    try {
      return await this.options.transport.send({ from: email.from.address, to: email.to.address }, message);
    } catch (error) {
      // The transport only throws before it has said anything: its probe must not be left hanging.
      this.options.breaker.succeeded();
      throw error;
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
