import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import { accessOf } from '@posthorn/auth';
import type { Request } from 'express';
import { refuseFields } from './unknown-fields.ts';

/** The fault of a query parameter where none is allowed. */
export const NO_QUERY = 'this call has no query, leave it out';

/**
 * Refuses a query (rule G4) after the key guard (rule G5). A guard, since an interceptor would be slower. Does not apply to public links and
 * pages, to which programs add parameters of their own.
 */
class NoQueryGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.url.includes('?') && accessOf(context.getClass(), context.getHandler()) !== undefined)
      refuseFields(request.query, NO_QUERY);
    return true;
  }
}

/** The route refuses any query parameter (400), if it requires a key. */
export const TakesNoQuery = (): MethodDecorator => UseGuards(new NoQueryGuard());
