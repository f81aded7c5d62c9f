import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  applyDecorators,
} from '@nestjs/common';
import { GUARDS_METADATA } from '@nestjs/common/constants.js';
import { Refusal, type WorkspaceId } from '@posthorn/kernel';
import { assignRequest } from '@posthorn/platform';
import { hasScope, mayManage, ROLE_NAMES, type Scope } from '@posthorn/domain';
import type { Request, Response } from 'express';
import { ACCESS, type Access, accessOf } from './access-of.ts';
import { unauthorized } from './bearer-credential.ts';
import { IdentifyCaller } from './identify-caller.ts';
import { type Principal, setPrincipal } from './principal.ts';

/**
 * Admits requests whose key is valid, within its rate limit, and has the route's scope and role. They are checked in this order,
 * and the first failure is the answer (rule G5). The workspace of the key is responsible for the request from then on.
 */
@Injectable()
class ApiKeyGuard implements CanActivate {
  constructor(private readonly callers: IdentifyCaller) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const response = http.getResponse<Response>();
    const principal = await this.callers.identify(request, response);
    assignRequest(request, principal.workspaceId);
    const { scope, manages } = accessOf(context.getClass(), context.getHandler())!;
    if (scope !== undefined && !hasScope(principal.role, scope)) throw lacksScope(scope);
    if (manages && !mayManage(principal.role)) throw mayNotManage();
    checkWorkspaceInPath(request, principal);
    setPrincipal(request, principal);
    return true;
  }
}

/** A workspace in the path must be the key's own. The refusal does not reveal whether another one exists. */
function checkWorkspaceInPath({ params }: Request, { workspaceId }: Principal): void {
  const named = params['workspace_id'];
  if (named !== undefined && named !== workspaceId) throw foreignWorkspace(workspaceId);
}

/** The refusal of a key whose role does not have this scope. */
export function lacksScope(scope: Scope): Refusal {
  const able = ROLE_NAMES.filter((role) => hasScope(role, scope)).map((role) => `\`${role}\``);
  return unauthorized(
    `The API key lacks the scope \`${scope}\`; use a key with the role ${able.join(' or ')}`,
  );
}

/** The refusal of a key that may not manage its workspace. */
export function mayNotManage(): Refusal {
  return new Refusal(403, 'The API key may not manage this workspace; use a key with the role `EDITOR`');
}

/** The refusal of a path with a workspace that is not the key's own. */
export function foreignWorkspace(own: WorkspaceId): Refusal {
  return new Refusal(
    403,
    `The API key is not of the workspace in the path; use the id of its own workspace, \`${own}\``,
  );
}

/** Runs the key guard before the other guards of the route (rule G5), whatever the order of the decorators. */
function runKeyGuardFirst(target: object, _name?: string | symbol, method?: PropertyDescriptor): void {
  const guarded = (method?.value ?? target) as object;
  const others = (Reflect.getMetadata(GUARDS_METADATA, guarded) ?? []) as unknown[];
  Reflect.defineMetadata(GUARDS_METADATA, [ApiKeyGuard, ...others], guarded);
}

const requires = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), runKeyGuardFirst);

/** The route needs a key with this scope. */
export const RequiresScope = (scope: Scope): MethodDecorator & ClassDecorator =>
  requires({ scope, manages: false });

/** The route needs a key that may manage the workspace: `EDITOR`. */
export const RequiresEditor = (): MethodDecorator & ClassDecorator =>
  requires({ scope: 'user', manages: true });

/** The route needs a valid key, whatever its scopes. */
export const RequiresKey = (): MethodDecorator & ClassDecorator => requires({ manages: false });
