// Bundles the app in the current folder, with all packages that it imports: the last step of its build (npm run build).
import { globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';
import { ROOT } from './stack/runtime.mjs';

/** Nest imports these only for features that no app uses; they are not installed. */
const NOT_INSTALLED = [/^@nestjs\/(microservices|websockets)\b/, /^class-transformer\b/];

/**
 * A worker is started by its name, from the folder of what starts it (`workerUrl`), so each is an entry beside the main one. Every app depends on the libs
 * that have workers, so these are built.
 */
function entries() {
  const workers = globSync(join(ROOT, 'libs/*/dist/**/*.worker.js'));
  return Object.fromEntries(
    [join('dist', 'modules', 'main.js'), ...workers].map((path) => [basename(path, '.js'), path]),
  );
}

// Of an earlier build; the names of chunks contain hashes.
for (const file of globSync('dist/*.{js,js.map}')) rmSync(file);
await build({
  input: entries(),
  platform: 'node',
  external: NOT_INSTALLED,
  logLevel: 'warn',
  output: { dir: 'dist', format: 'esm', sourcemap: true, sourcemapExcludeSources: true },
});
