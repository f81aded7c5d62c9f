import { accessSync, constants } from 'node:fs';
import { run } from './processes.mjs';
import { ROOT, withInstalledBinaries } from './runtime.mjs';

/** Builds every lib and app; unchanged ones are taken from the cache. @throws with the compiler's output */
export async function build() {
  // Fails with a clear error; Prisma would mention the file that it cannot remove only at the end of a long message.
  accessSync(ROOT, constants.W_OK);
  await run({ command: 'npm', args: ['run', '--silent', 'build'], env: withInstalledBinaries() });
}
