import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import type { Response } from 'express';
import { refuse } from '../sign-in/entrance.ts';

/** Answers what people did not mean to be answered with in JSON. */
@Catch(Refusal)
export class RefusalPage implements ExceptionFilter<Refusal> {
  catch(refusal: Refusal, host: ArgumentsHost): void {
    refuse(host.switchToHttp().getResponse<Response>(), refusal);
  }
}
