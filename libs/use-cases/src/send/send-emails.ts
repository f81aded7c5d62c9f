import type { LaneId } from '@posthorn/domain';
import type { ClaimedEmail, EmailOutcome, OutboxStore } from '@posthorn/database';
import type { LaneRings } from '@posthorn/queues';
import type { RelayChain } from '@posthorn/smtp';
import { OutcomeRecorder } from '../lanes/outcome-recorder.ts';
import { type LaneTimes, ServeLanes } from '../lanes/serve-lanes.ts';
import { countOutcomes } from './count-outcomes.ts';
import type { DeliverEmail } from './deliver-email.ts';
import type { EmailSpans } from './email-spans.ts';

/** More than one, so that the next emails are composed, signed and checked while others are transmitted, and no connection waits. */
const ROWS_IN_WORK_PER_CONNECTION = 8;
/** Bounds how many emails a killed process may have sent without recording it. */
const ROWS_UNRECORDED_PER_CONNECTION = ROWS_IN_WORK_PER_CONNECTION;
/** Enough to keep all of these busy while the next claim is under way and outcomes are being recorded. */
const ROWS_IN_HAND_PER_CONNECTION = 12;
const MAX_BYTES_IN_HAND = 64 * 1024 * 1024;
const NONE_DEFERRED: ReadonlySet<EmailOutcome> = new Set();

interface SendEmailsOptions extends LaneTimes {
  readonly outbox: OutboxStore;
  readonly rings: Pick<LaneRings, 'ringAll' | 'ringSlot'>;
  readonly delivery: Pick<DeliverEmail, 'deliver'>;
  readonly relays: Pick<RelayChain, 'retryAfterMs'>;
  /** How many emails are transmitted at once. */
  readonly connections: number;
  /** Spans of turns; undefined: tracing is off. */
  readonly spans?: Pick<EmailSpans, 'beginTurn'> | undefined;
  readonly onError: (error: unknown) => void;
}

/** Serves the turns of lanes of emails: claim, deliver, record. */
export class SendEmails {
  private readonly lanes: ServeLanes<ClaimedEmail, EmailOutcome>;

  constructor(options: SendEmailsOptions) {
    const { outbox, delivery, relays, connections, spans, onError } = options;
    this.lanes = new ServeLanes({
      ...options,
      concurrency: connections * ROWS_IN_WORK_PER_CONNECTION,
      maxRows: connections * ROWS_IN_HAND_PER_CONNECTION,
      maxUnrecorded: connections * ROWS_UNRECORDED_PER_CONNECTION,
      maxBytes: MAX_BYTES_IN_HAND,
      claim: (demands, maxBytes) => outbox.claimEmails(demands, maxBytes, options.leaseMs),
      mayClaim: () => relays.retryAfterMs === 0,
      onTurn: spans && ((...turn) => spans.beginTurn(...turn)),
      work: (email, mayStillBegin) => delivery.deliver(email, mayStillBegin),
      recorder: new OutcomeRecorder({
        record: async (outcomes) => {
          await outbox.record(outcomes);
          countOutcomes(outcomes);
          return NONE_DEFERRED;
        },
        withoutDetail: (outcome) => ({ ...outcome, detail: {} }),
        onError,
      }),
    });
  }

  /** Serves one turn of a lane. */
  serve(laneId: LaneId, slot: string): Promise<void> {
    return this.lanes.serve(laneId, slot);
  }

  /** Starts nothing more, gives back emails that were not started, and resolves when the others are recorded. */
  drain(): Promise<void> {
    return this.lanes.drain();
  }
}
