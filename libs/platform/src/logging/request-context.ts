import { AsyncLocalStorage } from 'node:async_hooks';

export interface RequestContext {
  readonly requestId: string;
}

/** The request that the running code works for; its id is in every log line. */
export const requestContext = new AsyncLocalStorage<RequestContext>();
