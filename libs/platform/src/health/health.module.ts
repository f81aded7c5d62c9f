import type { DynamicModule } from '@nestjs/common';
import { HealthController } from './health.controller.ts';
import { Health, type HealthChecks } from './health.ts';

/** Serves `/health/live` and `/health/ready`, and lets every provider inject `Health`. */
export class HealthModule {
  static register(checks: HealthChecks | Health = {}): DynamicModule {
    const health = checks instanceof Health ? checks : new Health(checks);
    return {
      module: HealthModule,
      global: true,
      controllers: [HealthController],
      providers: [{ provide: Health, useValue: health }],
      exports: [Health],
    };
  }
}
