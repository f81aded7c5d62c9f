import { beginningOf } from '@posthorn/kernel';
import {
  decideAfterAttempt,
  mayLeaveUnsigned,
  type RelayedTransmission,
  type WithheldReason,
} from '@posthorn/domain';
import { type ClaimedEmail, type EmailOutcome, isOutage } from '@posthorn/database';
import { RenderingFailed, UncomposableMessage } from '@posthorn/rendering';
import type { LaneGate } from '@posthorn/queues';
import type { BounceAddresses } from '@posthorn/signing';
import type { Pace, RelayChain, ReportedFact, SmtpEnvelope } from '@posthorn/smtp';
import type { ComposeEmail } from './compose-email.ts';
import type { EmailSpans } from './email-spans.ts';
import { MessageRoom } from './message-room.ts';
import { outcomeOf, outcomeWithheld, outcomeWithoutMessage, type Unmade } from './outcome-of.ts';
import { UnsignableEmail } from './unsignable-email.ts';
import type { WithheldRecipients } from './withheld-recipients.ts';

const INTERNAL: Unmade = { reason: 'internal', isLasting: false };
const UNSIGNABLE: Unmade = { reason: 'unsignable', isLasting: false };
const UNCOMPOSABLE: Unmade = { reason: 'uncomposable', isLasting: true };
const MAX_ERROR_CHARACTERS = 512;

interface DeliverEmailOptions {
  readonly composer: Pick<ComposeEmail, 'compose'>;
  /** The addresses that reports of emails come back to; undefined: that of their sender. */
  readonly bounceAddresses?: Pick<BounceAddresses, 'addressFor'> | undefined;
  /** Whether deliveries are to be reported to those addresses as well, and not only delays and failures. */
  readonly reportsDeliveries?: boolean;
  readonly recipients: Pick<WithheldRecipients, 'whyWithheld'>;
  readonly relays: Pick<RelayChain, 'retryAfterMs' | 'send'>;
  /** How many may be transmitted at once; it lets lanes through in turn. */
  readonly gate: Pick<LaneGate, 'pass'>;
  /** How many may leave in a second. */
  readonly pace: Pick<Pace, 'turn'>;
  /** What is told of transmissions; undefined: traces are off. */
  readonly spans?: Pick<EmailSpans, 'watch'> | undefined;
  /** Told of faults of our own. */
  readonly onError: (error: unknown) => void;
}

/** A message; or what has become of its email without one, undefined: nothing. */
type Made = Buffer | EmailOutcome | undefined;

function bytesOf(made: Made): number {
  return Buffer.isBuffer(made) ? made.length : 0;
}

/** Delivers one claimed email to a relay. */
export class DeliverEmail {
  private readonly room = new MessageRoom();

  constructor(private readonly options: DeliverEmailOptions) {}

  /**
   * What became of the email; undefined: nothing, because it may not be begun just now, and it costs the email no attempt.
   *
   * @param mayStillBegin whether the email is still ours, asked when its message is ready
   */
  async deliver(email: ClaimedEmail, mayStillBegin: () => boolean): Promise<EmailOutcome | undefined> {
    if (this.options.relays.retryAfterMs > 0) return undefined;
    if (email.withheldFor !== null) return outcomeWithheld(email, email.withheldFor);
    const make = (): Promise<Made> => this.composed(email);
    const use = (made: Made): Promise<EmailOutcome | undefined> =>
      this.deliverMade(email, made, mayStillBegin);
    // What the caller said in full was counted when it was claimed.
    if (email.content.type === 'raw') return use(await make());
    return this.room.hold(email.laneId, make, bytesOf, use);
  }

  private async deliverMade(
    email: ClaimedEmail,
    made: Made,
    mayStillBegin: () => boolean,
  ): Promise<EmailOutcome | undefined> {
    if (!Buffer.isBuffer(made)) return made;
    return this.options.gate.pass(email.laneId, () => this.deliverComposed(email, made, mayStillBegin));
  }

  private async deliverComposed(
    email: ClaimedEmail,
    message: Buffer,
    mayStillBegin: () => boolean,
  ): Promise<EmailOutcome | undefined> {
    await this.options.pace.turn();
    const withheldFor = await this.whyWithheld(email);
    if (withheldFor === 'unknown') return undefined;
    if (withheldFor !== null) return outcomeWithheld(email, withheldFor);
    const transmission = await this.transmit(email, message, mayStillBegin);
    if (transmission === 'unsendable') return outcomeWithoutMessage(email, INTERNAL);
    if (transmission === undefined) return undefined;
    const verdict = decideAfterAttempt(transmission, email.attempts);
    return verdict.kind === 'relay_unavailable'
      ? undefined
      : outcomeOf(email, message, transmission, verdict);
  }

  /** Undefined: what it is made of cannot be read just now. */
  private async composed(email: ClaimedEmail): Promise<Made> {
    try {
      return await this.options.composer.compose(email, {
        mayLackSignature: mayLeaveUnsigned(email.attempts),
      });
    } catch (error) {
      if (error instanceof RenderingFailed) return outcomeWithoutMessage(email, unrendered(error));
      if (error instanceof UncomposableMessage) return outcomeWithoutMessage(email, UNCOMPOSABLE);
      this.options.onError(error);
      if (error instanceof UnsignableEmail) return outcomeWithoutMessage(email, UNSIGNABLE);
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

  /** Undefined: no relay may be tried just now. Unsendable: a fault of our own, found before anything was said to a relay. */
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

  /** Reports are asked for only where they come back to us: a sender of our callers is not to get mail that nobody asked for. */
  private envelopeOf({ id, from, to }: ClaimedEmail): SmtpEnvelope {
    const { bounceAddresses, reportsDeliveries } = this.options;
    if (bounceAddresses === undefined) return { from: from.address, to: to.address };
    const of: readonly ReportedFact[] = reportsDeliveries ? [...REPORTED, 'SUCCESS'] : REPORTED;
    return { from: bounceAddresses.addressFor(id), to: to.address, reports: { envelopeId: id, of } };
  }
}

/** What is reported to the address of an email; what is not asked for would be up to the relay (RFC 3461, section 4.1). */
const REPORTED: readonly ReportedFact[] = ['FAILURE', 'DELAY'];

function unrendered({ reason, message, isLasting }: RenderingFailed): Unmade {
  return { reason: `rendering_${reason}`, error: beginningOf(message, MAX_ERROR_CHARACTERS), isLasting };
}
