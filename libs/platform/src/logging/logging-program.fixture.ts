import { createLogger } from './create-logger.ts';

// Logs for a while, reports that on standard error, and exits as apps do.
const LINES = 200;

const logger = createLogger({ LOG_LEVEL: 'info' }, 'test');
for (let line = 1; line <= LINES; line += 1) {
  logger.info({ line }, 'x'.repeat(1_000));
  await new Promise((resolve) => setImmediate(resolve));
}
logger.flush();
process.stderr.write('logged all of it\n');
process.exit(0);
