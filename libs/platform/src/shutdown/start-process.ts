import { CannotStart } from '@posthorn/kernel';

/**
 * Starts a process: one that cannot start says why, for people, and ends with 1.
 *
 * @param name of the app, to begin what is said with
 */
export async function startProcess(name: string, start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    process.stderr.write(`${name} cannot start: ${reasonOf(error as NodeJS.ErrnoException)}\n`);
    process.exit(1);
  }
}

/** What Node says of a port that cannot be had. */
interface PortFault extends NodeJS.ErrnoException {
  readonly address?: string;
  readonly port?: number;
}

/** By Node's code. */
const PORT_FAULTS: Readonly<Record<string, (at: string) => string>> = {
  EADDRINUSE: (at) =>
    `Another process listens at ${at}: stop it, or give this one a port of its own (HTTP_PORT, METRICS_PORT and INBOUND_PORT say which)`,
  EACCES: (at) =>
    `It may not listen at ${at}: give it a port above 1023 (HTTP_PORT, METRICS_PORT and INBOUND_PORT say which)`,
  EADDRNOTAVAIL: (at) => `This machine does not have the address of ${at}: correct HTTP_HOST`,
};

function reasonOf(error: PortFault): string {
  if (error instanceof CannotStart) return error.message;
  const say = error.syscall === 'listen' ? PORT_FAULTS[error.code ?? ''] : undefined;
  return say?.(`${error.address}:${error.port}`) ?? error.stack ?? error.message;
}
