import type { ErasureId } from '@posthorn/kernel';

/** The states of an erasure, with their meanings. */
export const ERASURE_STATES = {
  REMOVING: 'what is only about the person is deleted',
  REDACTING: 'their address is replaced by `[erased]` in everything else',
  COMPLETED: 'everything has been searched',
} as const;

export type ErasureState = keyof typeof ERASURE_STATES;

/** What a workspace has asked to be erased about a person, and what was. */
export interface Erasure {
  readonly id: ErasureId;
  /** SHA-256 of the address in lower case, in hex. */
  readonly recipient: string;
  /** Whether nothing is to be sent to the person again, even if the address was on no list. */
  readonly isSuppressing: boolean;
  readonly state: ErasureState;
  /** The number of rows searched so far. */
  readonly searched: number;
  /** The number of deleted rows, by table. */
  readonly deleted: Readonly<Record<string, number>>;
  /** The number of rows in which the address was replaced, by table. */
  readonly redacted: Readonly<Record<string, number>>;
  /** The number of rows that still contain the address, by table. */
  readonly remaining: Readonly<Record<string, number>>;
  /** Whether a hash of the address is kept, so that nothing is sent to the person. */
  readonly isRemembered: boolean;
  /** How many due emails, events and deliveries were cancelled. */
  readonly cancelled: number;
  /** How many emails and events could not be removed when they were last searched, because they were being processed. */
  readonly inProgress: number;
  readonly createdAt: Date;
  readonly finishedAt: Date | null;
}

/** How many unfinished erasures a workspace may have. */
export const MAX_OPEN_ERASURES = 100;

/** How long a completed erasure is kept. */
export const ERASURES_KEPT_DAYS = 90;
