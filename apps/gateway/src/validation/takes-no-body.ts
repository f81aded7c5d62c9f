import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';
import { refuseFields } from './unknown-fields.ts';

/** Judges, once the guards have let a request in (rule G5), that it asks for nothing which would not be done (rule G4). */
class NoBody implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    const body = bodyIfAny(context.switchToHttp().getRequest<Request>());
    refuseFields({ ...body }, 'this call takes no body, leave it out');
    return next.handle();
  }
}

/** The route takes no body: none, an empty one and `{}` are the same to it, and whatever else is refused (400, or 415 by its type). */
export const TakesNoBody = (): MethodDecorator & ClassDecorator => UseInterceptors(new NoBody());
