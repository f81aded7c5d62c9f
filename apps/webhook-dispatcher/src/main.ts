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

@Module({})
class WebhookDispatcherModule {}

await startProcess('webhook-dispatcher', async () => {
  loadEnvFile();
  const { http, log } = readSettings({ http: HttpSettings, log: LogSettings });
  const logger = createLogger(log, 'webhook-dispatcher');
  const app = await createHealthApp(WebhookDispatcherModule, { logger, settings: http });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'started');
  await runUntilSignal(app, { logger });
});
