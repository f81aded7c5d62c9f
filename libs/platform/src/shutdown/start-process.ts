import { CannotStart } from '@posthorn/kernel';
import { loadEnvFile } from '../settings/env-file.ts';
import { exitBeforeWork, SIGNALS } from './signals.ts';

/**
 * Starts a process, with the variables of a `.env` file. If it cannot start, it prints the reason for people and exits with 1. On a signal before
 * {@link runUntilSignal} it exits at once with 0.
 *
 * @param name of the app, for the message
 */
export async function startProcess(name: string, start: () => Promise<void>): Promise<void> {
  for (const signal of SIGNALS) process.on(signal, exitBeforeWork);
  try {
    loadEnvFile();
    await start();
  } catch (error) {
    process.stderr.write(`${name} cannot start: ${reasonOf(error as NodeJS.ErrnoException)}\n`);
    process.exit(1);
  }
}

/** Node's error for an address or port that cannot be listened on. */
interface ListenFault extends NodeJS.ErrnoException {
  readonly hostname?: string;
  readonly address?: string;
  readonly port?: number;
}

/** Messages by Node's error code. */
const LISTEN_FAULTS: Readonly<Record<string, (fault: ListenFault) => string>> = {
  EADDRINUSE: ({ address, port }) =>
    `Another process listens at ${address}:${port}: stop it, or give this one a port of its own (HTTP_PORT, METRICS_PORT and INBOUND_PORT say which)`,
  EACCES: ({ address, port }) =>
    `It may not listen at ${address}:${port}: give it a port above 1023 (HTTP_PORT, METRICS_PORT and INBOUND_PORT say which)`,
  EADDRNOTAVAIL: ({ address }) =>
    `This machine does not have the address ${address}: correct HTTP_HOST or INBOUND_HOST`,
  ENOTFOUND: ({ hostname }) => `The name ${hostname} leads to no address: correct HTTP_HOST or INBOUND_HOST`,
};

function reasonOf(error: ListenFault): string {
  if (error instanceof CannotStart) return error.message;
  const say = ['listen', 'getaddrinfo'].includes(error.syscall ?? '')
    ? LISTEN_FAULTS[error.code ?? '']
    : undefined;
  return say?.(error) ?? error.stack ?? error.message;
}
