import type { DynamicModule } from '@nestjs/common';
import { HealthController } from './health.controller.ts';
import { Health } from './health.ts';

/** Serves `/health/live` and `/health/ready`, and lets every provider inject `Health`. */
export class HealthModule {
  static register(health: Health): DynamicModule {
    return {
      module: HealthModule,
      global: true,
      controllers: [HealthController],
      providers: [{ provide: Health, useValue: health }],
      exports: [Health],
    };
  }
}
