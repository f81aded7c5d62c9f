import {
  type CanActivate,
  type ExecutionContext,
  Injectable,
  SetMetadata,
  UseGuards,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Refusal } from '@posthorn/kernel';
import { hasScope, type Scope } from '@posthorn/domain';
import type { Request } from 'express';
import { Authenticate } from './authenticate.ts';
import { bearerCredential } from './bearer-credential.ts';
import { setPrincipal } from './principal.ts';

const SCOPE = 'posthorn:scope';

/** Lets in who carries a valid key that has the scope of the route. */
@Injectable()
export class ApiKeyGuard implements CanActivate {
  constructor(
    private readonly authentication: Authenticate,
    private readonly reflector: Reflector,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Request>();
    const principal = await this.authentication.authenticate(bearerCredential(request));
    const scope = this.reflector.getAllAndOverride<Scope | undefined>(SCOPE, [
      context.getHandler(),
      context.getClass(),
    ]);
    if (scope !== undefined && !hasScope(principal.role, scope)) {
      throw new Refusal(401, `The API key lacks the scope \`${scope}\`; use a key with another role`);
    }
    setPrincipal(request, principal);
    return true;
  }
}

/** The route needs a key with this scope. */
export const RequiresScope = (scope: Scope): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(SCOPE, scope), UseGuards(ApiKeyGuard));
