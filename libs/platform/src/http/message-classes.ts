import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express, Request, Response } from 'express';
import { LazyBody } from './body/lazy-body.ts';
import { closeWith } from './connections/pipelined-requests.ts';

/** The event that a response emits when it was written completely and the client has not read it yet. */
export const UNREAD = 'unread';

interface MessageClasses {
  readonly IncomingMessage: typeof IncomingMessage;
  readonly ServerResponse: typeof ServerResponse;
}

/**
 * The request and response classes for the server of an app. They have Express' prototypes already: otherwise Express would change the prototype
 * of each object, which invalidates its shape in V8 and costs some 5 % of a request's CPU time. For the same reason, `body` is an accessor of the
 * class: it returns the value of the {@link LazyBody} that it was set to.
 *
 * @param isDraining whether this process is shutting down, so that each response must close its connection, also that of a request which began before
 */
export function messageClassesOf(app: Express, isDraining: () => boolean): MessageClasses {
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
    override writeHead(...given: unknown[]): this {
      if (isDraining()) closeWith(this);
      return super.writeHead(...(given as [number]));
    }

    override end(...given: unknown[]): this {
      super.end(...(given as []));
      // Not `writableFinished`, which is never true at this point: each response would be watched, with a timer.
      if (this.writableLength > 0) this.emit(UNREAD);
      return this;
    }
  }
  app.request = Object.setPrototypeOf(ExpressRequest.prototype, app.request) as Request;
  app.response = Object.setPrototypeOf(ExpressResponse.prototype, app.response) as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
