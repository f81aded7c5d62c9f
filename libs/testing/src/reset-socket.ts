import type { Socket } from 'node:net';

/**
 * Resets a connection (RST). One that is just being closed is only destroyed: Node refuses to reset it (EINVAL), and would then leave it open for as long as
 * the process runs.
 */
export function resetSocket(socket: Socket): void {
  if (socket.writableEnded && !socket.writableFinished) socket.destroy();
  else socket.resetAndDestroy();
}
