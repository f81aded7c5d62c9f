import type { CanActivate, ExecutionContext } from '@nestjs/common';
import { accessOf } from '@posthorn/auth';
import { bodyIfAny } from '@posthorn/platform';
import type { Request } from 'express';
import { refuseFields } from './unknown-fields.ts';

/** The fault of a query parameter where none is allowed. */
export const NO_QUERY = 'this call has no query, leave it out';
/** The fault of a body where none is allowed; an empty one, `{}`, `[]` and `null` are accepted. */
export const NO_BODY = 'this call takes no body, leave it out';

const METHODS_WITHOUT_BODY = new Set(['GET', 'HEAD']);

/**
 * Refuses a query or a body that the route does not take (rule G4), after the key guard (rule G5). A guard, since an interceptor would be
 * slower. Does not apply to public links and pages, to which programs add parameters and bodies of their own.
 */
export class UnexpectedInputGuard implements CanActivate {
  constructor(private readonly takes: { readonly query: boolean; readonly body: boolean }) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    const hasQuery = !this.takes.query && request.url.includes('?');
    const mayHaveBody = !this.takes.body && !METHODS_WITHOUT_BODY.has(request.method);
    if (!hasQuery && !mayHaveBody) return true;
    if (accessOf(context.getClass(), context.getHandler()) === undefined) return true;
    if (hasQuery) refuseFields(request.query, NO_QUERY);
    if (mayHaveBody) refuseFields(bodyIfAny(request) ?? {}, NO_BODY);
    return true;
  }
}
