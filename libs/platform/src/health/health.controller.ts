import { Controller, Get, Res } from '@nestjs/common';
import type { ErrorBody } from '@posthorn/kernel';
import type { Response } from 'express';
import { errorBody } from '../http/answers/error-answer.ts';
import { Health, type HealthReport } from './health.ts';

type HealthAnswer = Omit<HealthReport, 'fault'> | ErrorBody;

@Controller('health')
export class HealthController {
  constructor(private readonly health: Health) {}

  /** 503 when the process must be restarted. */
  @Get('live')
  live(@Res({ passthrough: true }) response: Response): HealthAnswer {
    return answer(response, this.health.live());
  }

  /** 503 while this process starts or shuts down. */
  @Get('ready')
  ready(@Res({ passthrough: true }) response: Response): HealthAnswer {
    return answer(response, this.health.ready());
  }
}

function answer(response: Response, { fault, ...answered }: HealthReport): HealthAnswer {
  if (fault === undefined) return answered;
  response.status(503).setHeader('Retry-After', '1');
  return errorBody(503, fault);
}
