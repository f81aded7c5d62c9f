import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * Takes values from a `.env` file for the variables that the environment lacks or has empty. A missing file is no fault: in
 * production there is none.
 */
export function loadEnvFile(path = '.env', env: NodeJS.ProcessEnv = process.env): void {
  for (const [name, value] of Object.entries(parseEnv(textOf(path)))) env[name] ||= value;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
