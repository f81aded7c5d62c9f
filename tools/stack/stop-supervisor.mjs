import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive, LEASH_MS, waitUntil } from './processes.mjs';
import { endSupervision, supervisorPid, wasKilled } from './state.mjs';

/** The ten seconds that it may take, and some for a machine that is busy. */
const STOP_WITHIN_MS = 15_000;

/**
 * Asks the process that keeps the stack to stop everything, and waits until it has.
 *
 * @returns {Promise<boolean>} false when there was nothing to stop
 */
export async function stopSupervisor() {
  const pid = supervisorPid();
  if (pid !== undefined) {
    process.kill(pid, 'SIGTERM');
    try {
      await waitUntil(() => !isAlive(pid), { withinMs: STOP_WITHIN_MS, what: 'Stopping' });
    } catch {
      process.kill(pid, 'SIGKILL');
    }
  }
  if (wasKilled()) await sleep(LEASH_MS);
  endSupervision();
  return pid !== undefined;
}
