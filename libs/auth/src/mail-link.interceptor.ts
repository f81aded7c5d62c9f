import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  UseInterceptors,
} from '@nestjs/common';
import { KeyedConcurrencyLimit, Refusal } from '@posthorn/kernel';
import { assignRequest } from '@posthorn/platform';
import type { Request, Response } from 'express';
import { from, lastValueFrom, type Observable } from 'rxjs';
import { RateLimits } from './rate-limits.ts';

/** Opening links needs no key, and each takes a connection to the database, which all workspaces share. */
const OF_A_NETWORK = {
  maxConcurrent: 2,
  maxWaiting: 200,
  refusal: () =>
    new Refusal(503, 'Too many links are being opened from this network; try again in a moment', {
      retryAfterSeconds: 1,
    }),
};

/**
 * Makes the network of the client responsible for a request, as the workspace of the key is for one with a key, and lets its requests wait for each other: four
 * hundred at once took all connections to the database, and everybody else waited for seconds.
 */
@Injectable()
export class MailLinkInterceptor implements NestInterceptor {
  private readonly opened = new KeyedConcurrencyLimit<string>(OF_A_NETWORK);

  constructor(private readonly limits: RateLimits) {}

  /** @throws Refusal 503 when too many requests of the network are waiting or in flight */
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    const network = this.limits.networkIdOf(request);
    assignRequest(request, network);
    const gone = new AbortController();
    http.getResponse<Response>().once('close', () => gone.abort());
    const answer = (): Promise<unknown> => lastValueFrom(next.handle());
    return from(this.opened.run(network, answer, gone.signal));
  }
}

/** The route is the target of a link in a mail, which needs no key and waits for the database. */
export const IsMailLink = (): ClassDecorator => UseInterceptors(MailLinkInterceptor);
