import { setTimeout as sleep } from 'node:timers/promises';

export const MINUTE_MS = 60_000;
export const DAY_MS = 24 * 60 * MINUTE_MS;

/** The time `ms` milliseconds from now, in the format of the API. */
export function fromNow(ms: number): string {
  return new Date(Date.now() + ms).toISOString();
}

/** A time truncated to the second, in milliseconds since 1970: mail headers are no more precise. */
export function toSecond(time: string): number {
  return Math.floor(Date.parse(time) / 1_000) * 1_000;
}

/** Longer than most tests take, and shorter than the time limit of a test or hook. */
const END_OF_MONTH_MS = 3 * MINUTE_MS;

/** Waits for the next month (UTC) when this one ends within three minutes. */
export async function avoidEndOfMonth(): Promise<void> {
  const now = new Date();
  const leftMs = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1) - now.getTime();
  // A timer may end a moment early, and gateways estimate the clock of the database.
  if (leftMs < END_OF_MONTH_MS) await sleep(leftMs + 1_000);
}
