import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request, Response } from 'express';
import { LazyBody } from './lazy-body.ts';

/** What a response tells when all of it is said and the other side has not taken it yet. */
export const UNREAD = 'unread';

interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * The classes that a server makes the requests and responses of an app of. They have the prototypes that Express gives them: else it would change
 * the prototype of each, which costs a request some 5 % of its CPU, because V8 forgets what it knew of their shape. For the same reason a body
 * that is made when it is asked for is no property of each request's own: `body` gives what a {@link LazyBody} that it was set to makes.
 */
export function messageClassesOf(app: Express): MessageClasses {
  class ExpressRequest extends IncomingMessage {
    private given: LazyBody | undefined;

    get body(): unknown {
      return this.given?.get();
    }

    set body(value: unknown) {
      this.given = value instanceof LazyBody ? value : new LazyBody(() => value);
    }
  }
  class ExpressResponse<Of extends IncomingMessage = IncomingMessage> extends ServerResponse<Of> {
    override end(...given: unknown[]): this {
      super.end(...(given as []));
      // Not `writableFinished`, which is never true yet: each answer would be watched, with a timer.
      if (this.writableLength > 0) this.emit(UNREAD);
      return this;
    }
  }
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Request;
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
