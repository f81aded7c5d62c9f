import { run } from './processes.mjs';
import { withInstalledBinaries } from './runtime.mjs';

/** Builds every lib and app; what has not changed is taken from the cache. @throws with the compiler's words */
export async function build() {
  await run({ command: 'npm', args: ['run', '--silent', 'build'], env: withInstalledBinaries() });
}
