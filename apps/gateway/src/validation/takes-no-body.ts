import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';
import { refuseFields } from './unknown-fields.ts';

/** What a body is told where none is allowed. */
export const NO_BODY = 'this call takes no body, leave it out';

/** Refuses a body (rule G4) after the guards have admitted the request (rule G5). */
class NoBodyInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const body = bodyIfAny(context.switchToHttp().getRequest<Request>());
    refuseFields({ ...body }, NO_BODY);
    return next.handle();
  }
}

/** The route takes no body: an empty one and `{}` are accepted, any other is refused (400, or 415 by its type). */
export const TakesNoBody = (): MethodDecorator & ClassDecorator => UseInterceptors(new NoBodyInterceptor());
