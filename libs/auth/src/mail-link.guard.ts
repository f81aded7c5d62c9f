import { type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import { assignRequest } from '@posthorn/platform';
import type { Request } from 'express';
import { RateLimits } from './rate-limits.ts';

/** Makes the network of the client responsible for a request, as the workspace of the key is for one with a key. */
@Injectable()
class MailLinkGuard implements CanActivate {
  constructor(private readonly limits: RateLimits) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<Request>();
    assignRequest(request, this.limits.networkIdOf(request));
    return true;
  }
}

/** The route is the target of a link in a mail, which needs no key and waits for the database. */
export const IsMailLink = (): ClassDecorator => UseGuards(MailLinkGuard);
