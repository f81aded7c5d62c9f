import {
  isAnswered,
  isBeforeAnyEmail,
  isRelayFault,
  mayTryAnotherRelay,
  type RelayedTransmission,
  type Transmission,
} from '@posthorn/domain';
import { describeTransmission } from './describe-transmission.ts';
import type { RelayBreaker } from './relay-breaker.ts';
import type { OnReached, RelayTransport } from './relay-transport.ts';
import type { SmtpEnvelope } from './smtp-envelope.ts';

/** A relay with its circuit breaker. */
export interface Relay {
  readonly transport: RelayTransport;
  readonly breaker: RelayBreaker;
}

/** Called before each transmission; the returned function is called with its result, or without one after a fault of ours. */
export type WatchTransmission = (relay: string) => (transmission?: Transmission) => void;

export interface RelayEvent {
  readonly relay: string;
  readonly isAvailable: boolean;
  /** The stage and the relay's reply, if it is unavailable. */
  readonly reason?: string;
  /** Whether the cause is a lack of resources on this machine, and not the relay. */
  readonly isOurs?: boolean;
}

/** Several relays in order of preference. */
export class RelayChain {
  private isLeaving = false;

  /**
   * @param onRelay called whenever a relay becomes unavailable (each time that its breaker opens, also after a failed probe), and when it is back
   * @param onTransmitted called after each transmission, however it ended, with its duration: from the right to a connection, which may have to be established, to the
   *   result
   */
  constructor(
    private readonly relays: readonly Relay[],
    private readonly onRelay: (event: RelayEvent) => void,
    private readonly onTransmitted?: (relay: string, durationMs: number) => void,
  ) {}

  /** How long to wait before some relay may be tried; 0: none. */
  get retryAfterMs(): number {
    return Math.min(...this.relays.map(({ breaker }) => breaker.retryAfterMs));
  }

  /**
   * Transmits a message by the first available relay that can take it. The next relay is tried only if this one has provably accepted nothing, and has not given a
   * verdict on the email.
   *
   * @param mayStillBegin called before each relay, and again when there is a connection to it
   * @param watch observes each transmission
   * @returns the result and the relay that gave it; undefined when no relay may be tried now, or `leave` has broken it off
   * @throws what a transport throws: faults of our own
   */
  async send(
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin: () => boolean = () => true,
    watch?: WatchTransmission,
  ): Promise<RelayedTransmission | undefined> {
    const failed: RelayedTransmission[] = [];
    for (const relay of this.relays) {
      if (!mayStillBegin()) break;
      if (!relay.breaker.tryBegin()) continue;
      const transmission = await this.sendBy(relay, envelope, message, mayStillBegin, watch);
      if (transmission === undefined) continue;
      if (!mayTryAnotherRelay(transmission)) return transmission;
      failed.push(transmission);
    }
    return resultOf(failed, this.relays.length);
  }

  /** For shutting down: breaks off what has not come to the message yet, which may be silence of a relay for minutes. Nothing may be begun afterwards. */
  leave(): void {
    this.isLeaving = true;
    for (const { transport } of this.relays) transport.leave();
  }

  /** Waits for transmissions in flight, and closes all transports. */
  async close(): Promise<void> {
    await Promise.all(this.relays.map(({ transport }) => transport.close()));
  }

  private async sendBy(
    relay: Relay,
    envelope: SmtpEnvelope,
    message: Buffer,
    mayStillBegin: () => boolean,
    watch: WatchTransmission | undefined,
  ): Promise<RelayedTransmission | undefined> {
    const { transport, breaker } = relay;
    const onEnd = watch?.(transport.name);
    const begunAtMs = breaker.nowMs();
    let slotAtMs = 0;
    // While this waits for a connection, other transmissions may open the breaker; an established connection proves otherwise.
    const onReached: OnReached = (reached) => {
      if (reached === 'slot') slotAtMs = breaker.nowMs();
      // What comes afterwards is about the email, and a large one takes minutes over a slow line: the others need not wait for it.
      if (reached === 'envelope') this.answered(relay);
      return mayStillBegin() && (reached !== 'slot' || breaker.state !== 'open');
    };
    let transmission: Transmission | undefined;
    try {
      const sent = await transport.send(envelope, message, onReached);
      // Broken off by us, it shows nothing about the relay; if the relay did it, the email waits for the next sender, too.
      transmission = this.isLeaving && sent?.kind === 'broken' ? undefined : judged(sent, breaker);
    } finally {
      onEnd?.(transmission);
      this.learnFrom(relay, transmission, begunAtMs);
    }
    if (transmission === undefined) return undefined;
    this.onTransmitted?.(transport.name, breaker.nowMs() - slotAtMs);
    return { relay: transport.name, ...transmission };
  }

  /** Tells the breaker what a transmission shows of its relay; undefined: it did not begin, or ended by a fault of ours. */
  private learnFrom(relay: Relay, transmission: Transmission | undefined, begunAtMs: number): void {
    const { breaker } = relay;
    if (transmission === undefined || isOnlyOfEmail(transmission)) breaker.abandoned(begunAtMs);
    else if (isAnswered(transmission) && !isRelayFault(transmission)) this.answered(relay);
    // Without an answer, a probe has failed; any other email that is not the relay's fault shows nothing about it.
    else if (isRelayFault(transmission) || breaker.state === 'half_open')
      this.failed(relay, transmission, begunAtMs);
  }

  private failed(
    { transport: { name }, breaker }: Relay,
    transmission: Transmission,
    begunAtMs: number,
  ): void {
    if (!breaker.failed(begunAtMs)) return;
    const whose = transmission.kind === 'broken' && transmission.isOurs ? { isOurs: true } : {};
    this.onRelay({ relay: name, isAvailable: false, reason: describeTransmission(transmission), ...whose });
  }

  private answered({ transport: { name }, breaker }: Relay): void {
    const wasClosed = breaker.state === 'closed';
    breaker.succeeded();
    if (!wasClosed) this.onRelay({ relay: name, isAvailable: true });
  }
}

/**
 * The result of a message that some of so many relays were tried for, and none has taken. A result about the email takes precedence over the unavailability of a
 * relay. What the available ones could not take, by what they have announced, is final only if no other relay remains to be tried later.
 */
function resultOf(failed: readonly RelayedTransmission[], relays: number): RelayedTransmission | undefined {
  const aboutEmail = failed.find((transmission) => !wasUnasked(transmission) && !isRelayFault(transmission));
  const unasked = failed.filter(wasUnasked);
  const [refusal] = unasked;
  if (aboutEmail !== undefined || refusal === undefined) return aboutEmail ?? failed.at(-1);
  return unasked.length === relays ? refusal : { ...refusal, othersUnavailable: true };
}

function wasUnasked(
  transmission: RelayedTransmission,
): transmission is Extract<RelayedTransmission, { kind: 'refused' }> {
  return transmission.kind === 'refused' && transmission.unasked === true;
}

/**
 * Tells a refusal of one email from one of us (decision 9): words such as "authentication required" may be the recipient's server's, quoted by the relay, and whoever
 * is free to choose sender or recipient must not be able to stop the emails of others.
 */
function judged(
  transmission: Transmission | undefined,
  { isServing }: RelayBreaker,
): Transmission | undefined {
  return transmission?.kind === 'refused' && isServing && mayBeAboutOneEmail(transmission)
    ? { ...transmission, servesOthers: true }
    : transmission;
}

/** Whether a refusal shows nothing about the relay. */
function isOnlyOfEmail(transmission: Transmission): boolean {
  return (
    transmission.kind === 'refused' && (transmission.servesOthers === true || transmission.unasked === true)
  );
}

/** A 421 ends the session, and a temporary refusal at MAIL, before any recipient, is how a relay says that it gets too much. */
function mayBeAboutOneEmail({ stage, reply: { code } }: Extract<Transmission, { kind: 'refused' }>): boolean {
  return !isBeforeAnyEmail(stage) && code !== 421 && (stage !== 'mail' || code >= 500);
}
