import { SettingsError } from '../settings/read-settings.ts';

/**
 * Starts a process: one that cannot start says why, for people, and ends with 1.
 *
 * @param name of the app, to begin what is said with
 */
export async function startProcess(name: string, start: () => Promise<void>): Promise<void> {
  try {
    await start();
  } catch (error) {
    const { message, stack } = error as Error;
    process.stderr.write(
      `${name} cannot start: ${error instanceof SettingsError ? message : (stack ?? message)}\n`,
    );
    process.exit(1);
  }
}
