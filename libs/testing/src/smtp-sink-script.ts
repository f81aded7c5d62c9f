import type { SmtpStage } from '@posthorn/domain';

/** A stage at which a server can answer. */
export type SinkStage = Exclude<SmtpStage, 'connect'>;

/** What a server does at a stage instead of going on. Nothing of it, `{}`, means that it is silent from then on. */
export interface SinkAnswer {
  /** What it says, such as `451 4.7.1 try later`. */
  readonly reply?: string;
  /** It waits this long first; with nothing else it then goes on. */
  readonly delayMs?: number;
  /** It waits for this first; with nothing else it then goes on. */
  readonly after?: Promise<unknown>;
  /** It cuts the connection, after the reply if there is one. */
  readonly drop?: boolean;
}

/** Whether an answer is but a wait. */
export const goesOn = ({ reply, delayMs, after, drop }: SinkAnswer): boolean =>
  reply === undefined && drop !== true && (delayMs !== undefined || after !== undefined);

/** What is known when a stage is reached. */
export interface SinkSituation {
  /** The sender, from MAIL on. */
  readonly from: string;
  /** The recipients so far, from RCPT on. */
  readonly to: readonly string[];
  /** The number of the connection, from 1. */
  readonly connection: number;
  /** The number of the transaction on this connection, from 1. */
  readonly transaction: number;
}

/** Says what the server does at a stage; nothing means that it goes on as a server does that takes everything. */
export type SinkScript = (stage: SinkStage, situation: SinkSituation) => SinkAnswer | undefined;

/** A message that was taken. */
export interface SinkMessage {
  readonly from: string;
  readonly to: readonly string[];
  /** The bytes as they were before dots were stuffed. */
  readonly raw: Buffer;
  readonly receivedAt: Date;
  /** The number of the connection that it came over, from 1. */
  readonly connection: number;
}

/** Counts the connections of a server under test. */
export class ConnectionCount {
  /** All that there ever were. */
  total = 0;
  /** Those that are open. */
  open = 0;
  /** The most that were ever open at once. */
  max = 0;

  opened(): number {
    this.total += 1;
    this.open += 1;
    this.max = Math.max(this.max, this.open);
    return this.total;
  }

  closed(): void {
    this.open -= 1;
  }
}
