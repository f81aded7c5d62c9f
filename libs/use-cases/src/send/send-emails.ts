import { Coalescer } from '@posthorn/kernel';
import { type LaneId } from '@posthorn/domain';
import { type ClaimedEmail, type EmailOutcome, type OutboxStore } from '@posthorn/database';
import { type LaneRings, Turns, Workbench } from '@posthorn/queues';
import { type RelayBreaker } from '@posthorn/smtp';
import { type DeliverEmail } from './deliver-email.ts';
import { OutcomeRecorder } from './outcome-recorder.ts';

/** A few times the connections: enough to keep them busy while the next claim is under way. */
const ROWS_IN_HAND_PER_CONNECTION = 6;
const MOST_GIVEN_BACK_TOGETHER = 500;
const MOST_BYTES_IN_HAND = 64 * 1024 * 1024;

export interface SendEmailsOptions {
  readonly outbox: OutboxStore;
  readonly rings: Pick<LaneRings, 'ring' | 'ringSlot'>;
  readonly delivery: Pick<DeliverEmail, 'deliver'>;
  readonly breaker: Pick<RelayBreaker, 'retryAfterMs'>;
  /** How many emails are transmitted at once. */
  readonly connections: number;
  readonly rowsPerTurn: number;
  readonly handoverMs: number;
  readonly leaseMs: number;
  readonly renewalMs: number;
  readonly marginMs: number;
  readonly onError: (error: unknown) => void;
}

/** Serves the turns of lanes of emails: claim, deliver, record. */
export class SendEmails {
  private readonly recorder: OutcomeRecorder;
  private readonly givenBack: Coalescer<ClaimedEmail, undefined>;
  private readonly bench: Workbench<ClaimedEmail, EmailOutcome>;
  private readonly turns: Turns<ClaimedEmail>;

  constructor(private readonly options: SendEmailsOptions) {
    const { outbox, onError } = options;
    this.recorder = new OutcomeRecorder({ store: outbox, onError });
    this.givenBack = new Coalescer({
      serve: async (emails) => {
        await outbox.giveBack(emails);
        return emails.map(() => undefined);
      },
      maxItems: MOST_GIVEN_BACK_TOGETHER,
    });
    this.bench = this.createBench();
    this.turns = new Turns({
      rowsPerTurn: options.rowsPerTurn,
      handoverMs: options.handoverMs,
      claim: (demands, maxBytes) => outbox.claimEmails(demands, maxBytes, options.leaseMs),
      mayClaim: () => !this.recorder.isBehind && options.breaker.retryAfterMs === 0,
      bench: this.bench,
      rings: options.rings,
    });
  }

  /** Serves one turn of a lane. */
  serve(laneId: LaneId, slot: string): Promise<void> {
    return this.turns.serve(laneId, slot);
  }

  /** Begins nothing more, gives back what was not begun, and resolves when what was is recorded. */
  async drain(): Promise<void> {
    this.bench.refuse();
    await this.turns.settled();
    await this.bench.drain();
  }

  private createBench(): Workbench<ClaimedEmail, EmailOutcome> {
    const { outbox, delivery, connections, leaseMs, renewalMs, marginMs, onError } = this.options;
    return new Workbench({
      concurrency: connections,
      maxRows: connections * ROWS_IN_HAND_PER_CONNECTION,
      maxBytes: MOST_BYTES_IN_HAND,
      ...{ leaseMs, renewalMs, marginMs, onError },
      work: (email, mayStillBegin) => delivery.deliver(email, mayStillBegin),
      record: async (_email, outcome) => void (await this.recorder.record(outcome)),
      renew: (emails) => outbox.renew(emails, leaseMs),
      giveBack: async (emails) => void (await Promise.all(emails.map((email) => this.givenBack.add(email)))),
    });
  }
}
