import { enumerated } from './finding.ts';

/** How the locks of a transaction keep others from going on. */
export interface LockHarm {
  /** The tables of Posthorn that it keeps from being written. */
  readonly lockedTables: readonly string[];
  /** How many sessions wait for it. */
  readonly waiters: number;
}

/** Longer than the apps hold a lock or wait for one. */
export const HARMFUL_LOCK_SECONDS = 5;
const NAMED_TABLES = 3;

/** Whether the locks keep others from going on, if they are held for long. */
export function doesHarm({ lockedTables, waiters }: LockHarm): boolean {
  return lockedTables.length > 0 || waiters > 0;
}

/** The parts of a sentence that say how the locks keep others from going on; empty where they do not. */
export function describeHarm({ lockedTables, waiters }: LockHarm): string[] {
  return [
    ...(lockedTables.length === 0 ? [] : [`has locked ${enumerated(lockedTables, NAMED_TABLES, ', ')}`]),
    ...(waiters === 0 ? [] : [`sessions that wait for it: ${waiters}`]),
  ];
}
