import { Module } from '@nestjs/common';
import {
  createHealthApp,
  createLogger,
  HttpSettings,
  loadEnvFile,
  LogSettings,
  readSettings,
  runUntilSignal,
  startProcess,
} from '@posthorn/platform';
import { ClosedController } from './closed.controller.ts';

@Module({ controllers: [ClosedController] })
class DashboardModule {}

await startProcess('dashboard', async () => {
  loadEnvFile();
  const { http, log } = readSettings({ http: HttpSettings, log: LogSettings });
  const logger = createLogger(log, 'dashboard');
  const app = await createHealthApp(DashboardModule, { logger, settings: http });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'started');
  await runUntilSignal(app, { logger });
});
