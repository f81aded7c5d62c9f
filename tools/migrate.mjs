// Applies the migrations that the database has not seen: `DATABASE_URL=… npm run migrate`.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from './stack/runtime.mjs';
import { readSettings } from './stack/settings.mjs';

const HELP = `npm run migrate
Applies every migration that the database at DATABASE_URL (environment or .env) has not seen, each in a transaction of its own.
Safe to run from several places at once, and again. Needs a build (npm run build).`;

async function main() {
  const databaseUrl = readSettings().DATABASE_URL;
  if (!databaseUrl)
    throw new Error(
      'DATABASE_URL is not set: say which database to migrate, e.g. DATABASE_URL=postgresql://… npm run migrate',
    );
  const { runMigrations } = await import('../libs/database/dist/migrations/run-migrations.js');
  const applied = await runMigrations(databaseUrl, join(ROOT, 'prisma', 'migrations'));
  process.stdout.write(applied.length === 0 ? 'nothing to apply\n' : `applied ${applied.join(', ')}\n`);
}

const { values } = parseArgs({ options: { help: { type: 'boolean', short: 'h' } } });
if (values.help) process.stdout.write(`${HELP}\n`);
else await main();
