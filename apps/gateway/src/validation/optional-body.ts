import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';

/** The body of a call that can do without one: a missing or empty one is `{}`. Say `bodyIsOptional` where it is described. */
export const OptionalBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): object =>
    bodyIfAny(context.switchToHttp().getRequest<Request>()) ?? {},
);
