// npm run prisma: Prisma's command line, also where its native engine could not be downloaded.
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { say } from './stack/progress.mjs';
import { nodeBinary, ROOT, withInstalledBinaries } from './stack/runtime.mjs';
import { describeFault } from './stack/script.mjs';

const PROGRAM = join(ROOT, 'node_modules', 'prisma', 'build', 'index.js');
const ENGINES = join(ROOT, 'node_modules', '@prisma', 'engines');

/** The output folder of `generate`. */
const CLIENT = join(ROOT, 'libs', 'database', 'src', 'generated');

function hasNativeEngine() {
  return existsSync(ENGINES) && readdirSync(ENGINES).some((name) => name.startsWith('schema-engine-'));
}

/**
 * Without its engine every command of Prisma fails, even those that never call it (generate, validate, format). Any executable satisfies
 * the check; commands that really need the engine (migrate) then fail as they would have before.
 */
function engineStandIn() {
  const isAnswered = process.env.PRISMA_SCHEMA_ENGINE_BINARY !== undefined || hasNativeEngine();
  return isAnswered ? {} : { PRISMA_SCHEMA_ENGINE_BINARY: nodeBinary() };
}

if (!existsSync(PROGRAM)) {
  say('The packages are not installed: run npm ci.');
  process.exit(1);
}

if (process.argv[2] === 'generate' && existsSync(CLIENT)) {
  try {
    accessSync(CLIENT, constants.W_OK);
  } catch (error) {
    // Prisma would report a file that it could not remove.
    say(describeFault(error));
    process.exit(1);
  }
}

const child = spawn(nodeBinary(), [PROGRAM, ...process.argv.slice(2)], {
  cwd: ROOT,
  env: {
    ...withInstalledBinaries(),
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
    ...engineStandIn(),
  },
  stdio: 'inherit',
});
child.once('close', (code) => (process.exitCode = code ?? 1));
