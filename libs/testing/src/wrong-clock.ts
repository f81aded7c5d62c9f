import { globSync } from 'node:fs';

/** The machine's libfaketime; undefined: there is none. */
const [LIBRARY] = globSync('/usr/lib/*/faketime/libfaketimeMT.so.1');

/** Whether a program can be started with a wrong clock. */
export const canFakeClock = LIBRARY !== undefined;

/** The environment in which a program's wall clock is wrong by so many seconds; its monotonic clock and its timers are not. */
export function wrongClock(seconds: number): Record<string, string> {
  return {
    LD_PRELOAD: LIBRARY!,
    FAKETIME: `${seconds < 0 ? '' : '+'}${seconds}s`,
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
}
