// Bundles the app in the current folder, with all packages that it imports: the last step of its build (npm run build).
import { globSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';
import { ROOT } from './stack/runtime.mjs';

/** Nest imports these only for features that no app uses; they are not installed. */
const NOT_INSTALLED = ['@nestjs/microservices', '@nestjs/websockets', 'class-transformer'];

/** For packages in CommonJS: they `require` modules of Node, which is not defined in an ES module. */
const DEFINES_REQUIRE =
  "import { createRequire as newRequire } from 'node:module'; const require = newRequire(import.meta.url);";

/** A worker is started by its name, from the folder of what starts it (`workerUrl`), so each is an entry beside the main one. */
function entries() {
  const workers = globSync(join(ROOT, 'libs/*/dist/**/*.worker.js'));
  return [join('dist', 'modules', 'main.js'), ...workers];
}

// Of an earlier build; the names of chunks contain hashes.
for (const file of globSync('dist/*.{js,js.map}')) rmSync(file);
await build({
  entryPoints: entries().map((path) => ({ in: path, out: basename(path, '.js') })),
  outdir: 'dist',
  bundle: true,
  // What is imported later, such as Prisma's query compiler, stays in files of its own.
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  external: NOT_INSTALLED,
  banner: { js: DEFINES_REQUIRE },
  // The OpenAPI document names schemas after classes.
  keepNames: true,
  sourcemap: true,
  sourcesContent: false,
  logLevel: 'warning',
});
