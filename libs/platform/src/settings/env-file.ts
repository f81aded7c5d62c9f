import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/**
 * Sets variables that are missing or empty in the environment from a `.env` file. A missing file is ignored: in production there
 * is none.
 */
export function loadEnvFile(path = '.env', env: NodeJS.ProcessEnv = process.env): void {
  // Some editors begin a file with a byte order mark, which would become part of the first name.
  const variables = parseEnv(textOf(path).replace(/^\uFEFF/, ''));
  for (const [name, value] of Object.entries(variables)) env[name] ||= value;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}
