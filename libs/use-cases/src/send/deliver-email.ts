import { beginningOf } from '@posthorn/kernel';
import {
  decideAfterAttempt,
  isAnswered,
  isTooFast,
  maySendUnsigned,
  type RelayedTransmission,
  type WithheldReason,
} from '@posthorn/domain';
import { type ClaimedEmail, type EmailOutcome, isOutage } from '@posthorn/database';
import { RenderingFailed, UncomposableMessage } from '@posthorn/rendering';
import type { LaneGate } from '@posthorn/queues';
import type { SignedAddresses } from '@posthorn/signing';
import type { Pace, RelayChain, ReportedFact, SmtpEnvelope } from '@posthorn/smtp';
import { type ComposeEmail, UnsignableEmail } from './compose-email.ts';
import type { EmailSpans } from './email-spans.ts';
import { MessageMemory } from './message-memory.ts';
import { outcomeOf, outcomeWithheld, outcomeWithoutMessage, type CompositionFailure } from './outcome-of.ts';
import type { WithheldRecipients } from './withheld-recipients.ts';

const INTERNAL: CompositionFailure = { reason: 'internal', isLasting: false };
const UNSIGNABLE: CompositionFailure = { reason: 'unsignable', isLasting: false };
const UNCOMPOSABLE: CompositionFailure = { reason: 'uncomposable', isLasting: true };
const MAX_ERROR_CHARACTERS = 512;

interface DeliverEmailOptions {
  readonly composer: Pick<ComposeEmail, 'compose'>;
  /** Return-path addresses for reports; undefined: the sender's address is used. */
  readonly bounceAddresses?: Pick<SignedAddresses, 'addressFor'> | undefined;
  /** Whether to request reports of successful deliveries too, and not only of delays and failures. */
  readonly reportsDeliveries?: boolean;
  readonly recipients: Pick<WithheldRecipients, 'whyWithheld'>;
  readonly relays: Pick<RelayChain, 'retryAfterMs' | 'send'>;
  /** Limits concurrent transmissions, and how many begin per second, fairly between lanes. */
  readonly gate: Pick<LaneGate, 'pass'>;
  /** The pace of the gate, which adapts to the relay's answers. */
  readonly pace: Pick<Pace, 'noteAnswer'>;
  /** Spans of transmissions; undefined: tracing is off. */
  readonly spans?: Pick<EmailSpans, 'watch'> | undefined;
  /** Called with errors that are our own fault. */
  readonly onError: (error: unknown) => void;
}

/** The composed message; or the outcome of an email that cannot be composed; or undefined: give the claim back without an outcome. */
type Composed = Buffer | EmailOutcome | undefined;

function bytesOf(composed: Composed): number {
  return Buffer.isBuffer(composed) ? composed.length : 0;
}

/** Delivers one claimed email to a relay. */
export class DeliverEmail {
  private readonly memory = new MessageMemory();

  constructor(private readonly options: DeliverEmailOptions) {}

  /**
   * Resolves with the outcome of the attempt; undefined: nothing was begun, because that is not possible now, and no attempt is counted.
   *
   * @param mayStillBegin whether the claim still holds, and the process goes on; called when the message is ready, or could not be composed
   */
  async deliver(email: ClaimedEmail, mayStillBegin: () => boolean): Promise<EmailOutcome | undefined> {
    if (this.options.relays.retryAfterMs > 0) return undefined;
    if (email.withheldFor !== null) return outcomeWithheld(email, email.withheldFor);
    const compose = (): Promise<Composed> => this.composeOrFail(email, mayStillBegin);
    const use = (composed: Composed): Promise<EmailOutcome | undefined> =>
      this.deliverThroughGate(email, composed, mayStillBegin);
    // The size of a raw email is known, and was counted when it was claimed.
    if (email.content.type === 'raw') return use(await compose());
    return this.memory.hold(email.laneId, compose, bytesOf, use);
  }

  private async deliverThroughGate(
    email: ClaimedEmail,
    composed: Composed,
    mayStillBegin: () => boolean,
  ): Promise<EmailOutcome | undefined> {
    if (!Buffer.isBuffer(composed)) return composed;
    return this.options.gate.pass(email.laneId, () => this.deliverComposed(email, composed, mayStillBegin));
  }

  private async deliverComposed(
    email: ClaimedEmail,
    message: Buffer,
    mayStillBegin: () => boolean,
  ): Promise<EmailOutcome | undefined> {
    const withheldFor = await this.whyWithheld(email);
    if (withheldFor === 'unknown') return undefined;
    if (withheldFor !== null) return outcomeWithheld(email, withheldFor);
    const transmission = await this.transmit(email, message, mayStillBegin);
    if (transmission === 'unsendable') return outcomeWithoutMessage(email, INTERNAL);
    if (transmission === undefined) return undefined;
    if (isAnswered(transmission)) this.options.pace.noteAnswer(isTooFast(transmission));
    const verdict = decideAfterAttempt(transmission, email.attempts);
    return verdict.kind === 'relay_unavailable'
      ? undefined
      : outcomeOf(email, message, transmission, verdict);
  }

  /** Undefined: the database, which has the template, cannot be reached now, or the email may not be sent any more. */
  private async composeOrFail(email: ClaimedEmail, mayStillBegin: () => boolean): Promise<Composed> {
    try {
      return await this.options.composer.compose(email, {
        mayLackSignature: maySendUnsigned(email.attempts),
      });
    } catch (error) {
      // A process that is ending has closed its threads.
      if (error instanceof RenderingFailed && !mayStillBegin()) return undefined;
      if (error instanceof RenderingFailed) return outcomeWithoutMessage(email, renderingFailure(error));
      if (error instanceof UncomposableMessage) return outcomeWithoutMessage(email, UNCOMPOSABLE);
      this.options.onError(error);
      if (error instanceof UnsignableEmail) return outcomeWithoutMessage(email, UNSIGNABLE);
      return isOutage(error) ? undefined : outcomeWithoutMessage(email, INTERNAL);
    }
  }

  /** Checked when the message is ready, because composing may have taken long. While this cannot be checked, nothing is sent. */
  private async whyWithheld(email: ClaimedEmail): Promise<WithheldReason | 'unknown' | null> {
    try {
      return await this.options.recipients.whyWithheld(email);
    } catch (error) {
      this.options.onError(error);
      return 'unknown';
    }
  }

  /** Undefined: no relay may be tried now. Unsendable: a fault of our own, found before any relay was contacted. */
  private async transmit(
    email: ClaimedEmail,
    message: Buffer,
    mayStillBegin: () => boolean,
  ): Promise<RelayedTransmission | undefined | 'unsendable'> {
    const { relays, spans } = this.options;
    try {
      return await relays.send(this.envelopeOf(email), message, mayStillBegin, spans?.watch(email));
    } catch (error) {
      this.options.onError(error);
      return 'unsendable';
    }
  }

  /** Requests reports (DSN) only if they come back to us: a caller's sender address must not receive mail that nobody asked for. */
  private envelopeOf({ id, from, to }: ClaimedEmail): SmtpEnvelope {
    const { bounceAddresses, reportsDeliveries } = this.options;
    if (bounceAddresses === undefined) return { from: from.address, to: to.address };
    const of: readonly ReportedFact[] = reportsDeliveries ? [...REPORTED, 'SUCCESS'] : REPORTED;
    return { from: bounceAddresses.addressFor(id), to: to.address, reports: { envelopeId: id, of } };
  }
}

/** The reports requested by default; without a request, the relay would decide (RFC 3461, section 4.1). */
const REPORTED: readonly ReportedFact[] = ['FAILURE', 'DELAY'];

function renderingFailure({ reason, message, isLasting }: RenderingFailed): CompositionFailure {
  return { reason: `rendering_${reason}`, error: beginningOf(message, MAX_ERROR_CHARACTERS), isLasting };
}
