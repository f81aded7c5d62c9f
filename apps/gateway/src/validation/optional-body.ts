import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';

/** Gives a handler an optional body: `{}` when it is missing or empty. Set `bodyIsOptional` in the route's description. */
export const OptionalBody = createParamDecorator(
  (_data: unknown, context: ExecutionContext): object =>
    bodyIfAny(context.switchToHttp().getRequest<Request>()) ?? {},
);
