import type { SmtpStage } from '@posthorn/domain';

/** A stage of the SMTP dialogue at which the server answers. */
export type SinkStage = Exclude<SmtpStage, 'connect'>;

/** What a server does at a stage instead of accepting. `{}` means that it never answers again on this connection. */
export interface SinkAnswer {
  /** The reply, such as `451 4.7.1 try later`. */
  readonly reply?: string;
  /** It waits this long first; without another field it then accepts. */
  readonly delayMs?: number;
  /** It waits for this first; without another field it then accepts. */
  readonly after?: Promise<unknown>;
  /** It closes the connection, after the reply if there is one. */
  readonly drop?: boolean;
  /** It takes the message, whatever it says of it or does not say. */
  readonly isTaken?: boolean;
}

/** Whether an answer only delays acceptance. */
export const isOnlyDelay = ({ reply, delayMs, after, drop }: SinkAnswer): boolean =>
  reply === undefined && drop !== true && (delayMs !== undefined || after !== undefined);

/** What is known when a stage is reached. */
export interface SinkContext {
  /** The sender, from MAIL on. */
  readonly from: string;
  /** The recipients so far, from RCPT on. */
  readonly to: readonly string[];
  /** The number of the connection, from 1. */
  readonly connection: number;
  /** The number of the transaction on this connection, from 1. */
  readonly transaction: number;
}

/** Decides what the server does at a stage; undefined: it accepts. */
export type SinkScript = (stage: SinkStage, context: SinkContext) => SinkAnswer | undefined;

/** The script of a server that answers like this at one stage, and accepts at all others. */
export const answerAt =
  (stage: SinkStage, answer: SinkAnswer): SinkScript =>
  (reached) =>
    reached === stage ? answer : undefined;

/** A message that was accepted. */
export interface SinkMessage {
  readonly from: string;
  readonly to: readonly string[];
  /** The bytes without dot-stuffing. */
  readonly raw: Buffer;
  readonly receivedAt: Date;
  /** The number of the connection that it came over, from 1. */
  readonly connection: number;
}
