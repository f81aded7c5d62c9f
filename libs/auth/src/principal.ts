import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { KeyHolder } from '@posthorn/database';
import type { Actor } from '@posthorn/domain';
import type { Request } from 'express';

/** The authenticated caller: the workspace and role of the request's key. */
export type Principal = KeyHolder;

const PRINCIPAL = Symbol('principal');

interface RequestWithPrincipal extends Request {
  [PRINCIPAL]?: Principal;
}

/** Attaches the authenticated caller to a request. */
export function setPrincipal(request: Request, principal: Principal): void {
  (request as RequestWithPrincipal)[PRINCIPAL] = principal;
}

/** Gives a handler the principal of its request; the route must be guarded by `ApiKeyGuard`. */
export const Caller = createParamDecorator((_data: unknown, context: ExecutionContext): Principal => {
  const principal = context.switchToHttp().getRequest<RequestWithPrincipal>()[PRINCIPAL];
  if (principal === undefined) throw new Error('a route asks for its caller but is not guarded by a key');
  return principal;
});

/** The actor that the audit log records for a caller. */
export function actorOf({ apiKeyId, displayName }: Principal): Actor {
  return { kind: 'api_key', id: apiKeyId, name: displayName };
}
