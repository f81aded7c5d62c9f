/** The signals that end a process. */
export const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** Ends a process that has nothing to finish yet. Without a handler, the kernel ignores signals to PID 1, which an app in a container is. */
export function exitBeforeWork(): void {
  process.exit(0);
}
