import { setTimeout as sleep } from 'node:timers/promises';
import { ORPHANS_GONE_AFTER_MS, waitUntil } from './processes.mjs';
import { endSupervision, isSupervisor, supervisorPid, wasKilled } from './state.mjs';

/** The ten seconds that it may take, and some more for a busy machine. */
const STOP_WITHIN_MS = 15_000;

/**
 * Asks the supervisor to stop everything, and waits until it has.
 *
 * @returns {Promise<boolean>} false when there was nothing to stop
 */
export async function stopSupervisor() {
  const pid = supervisorPid();
  if (pid !== undefined) {
    const isGone = () => !isSupervisor(pid);
    process.kill(pid, 'SIGTERM');
    // It may be suspended, after a Ctrl-Z.
    process.kill(pid, 'SIGCONT');
    try {
      await waitUntil(isGone, { withinMs: STOP_WITHIN_MS, what: 'Stopping' });
    } catch {
      process.kill(pid, 'SIGKILL');
      await waitUntil(isGone, { withinMs: STOP_WITHIN_MS, what: 'Ending' });
    }
  }
  if (wasKilled()) await sleep(ORPHANS_GONE_AFTER_MS);
  endSupervision();
  return pid !== undefined;
}
