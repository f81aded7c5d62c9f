/**
 * Takes values from a `.env` file for the variables that the environment lacks. A missing file is no fault: in
 * production there is none.
 */
export function loadEnvFile(path = '.env'): void {
  try {
    process.loadEnvFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
