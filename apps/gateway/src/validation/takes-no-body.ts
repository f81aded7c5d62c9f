import {
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { Refusal } from '@posthorn/kernel';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';
import { faultsInUnknown } from './unknown-fields.ts';

const NO_FIELDS = { names: [] };

/** Judges, once the guards have let a request in (rule G5), that it asks for nothing which would not be done (rule G4). */
class NoBody implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): ReturnType<CallHandler['handle']> {
    refuseFields(bodyIfAny(context.switchToHttp().getRequest<Request>()));
    return next.handle();
  }
}

/** The route takes no body: none, an empty one and `{}` are the same to it, and whatever else is refused (400, or 415 by its type). */
export const TakesNoBody = (): MethodDecorator & ClassDecorator => UseInterceptors(new NoBody());

/** @throws Refusal (400) that names the fields of a body where there are to be none */
function refuseFields(body: object | undefined): void {
  const faults = faultsInUnknown(NO_FIELDS, { ...body }, '', () => 'is not a known field');
  if (faults.length > 0)
    throw new Refusal(400, `${faults.join('; ')}; this call takes no body, leave it out`);
}
