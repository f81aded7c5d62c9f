import { type CanActivate, type ExecutionContext, UseGuards } from '@nestjs/common';
import { accessOf } from '@posthorn/auth';
import type { Request } from 'express';
import { refuseFields } from './unknown-fields.ts';

/** What is said of a parameter where there are to be none. */
export const NO_QUERY = 'this call has no query, leave it out';

/**
 * Judges, behind the guard of keys (rule G5), that a call asks for nothing in its query which would not be done (rule G4). A guard and no
 * interceptor, which would cost every call more than it does. Links and pages that are open to everybody may have any: programs add
 * what they like to them.
 */
class NoQuery implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    if (request.url.includes('?') && accessOf(context.getClass(), context.getHandler()) !== undefined)
      refuseFields(request.query, NO_QUERY);
    return true;
  }
}

/** The route has no query, and asks for a key: whatever its callers write into one is refused (400). */
export const TakesNoQuery = (): MethodDecorator => UseGuards(new NoQuery());
