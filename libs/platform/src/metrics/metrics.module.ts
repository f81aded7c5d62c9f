import type { DynamicModule } from '@nestjs/common';
import type { Logger } from 'pino';
import type { HttpSettings } from '../settings/connection-settings.ts';
import { MetricsServer } from './metrics-server.ts';

/** Serves the metrics for as long as the app lives. */
export class MetricsModule {
  static register({ HTTP_HOST, METRICS_PORT }: HttpSettings, logger: Logger): DynamicModule {
    return {
      module: MetricsModule,
      providers: [{ provide: MetricsServer, useValue: new MetricsServer(HTTP_HOST, METRICS_PORT, logger) }],
    };
  }
}
