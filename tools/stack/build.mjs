import { accessSync, constants } from 'node:fs';
import { run } from './processes.mjs';
import { ROOT, withInstalledBinaries } from './runtime.mjs';

/** Builds every lib and app; what has not changed is taken from the cache. @throws with the compiler's words */
export async function build() {
  // Prisma would say at the end of a paragraph that it could not remove a file.
  accessSync(ROOT, constants.W_OK);
  await run({ command: 'npm', args: ['run', '--silent', 'build'], env: withInstalledBinaries() });
}
