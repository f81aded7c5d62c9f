import { AsyncLocalStorage } from 'node:async_hooks';

/** What the log lines of a request say of it. */
export interface RequestContext {
  readonly requestId: string;
  /** Whose key it carries. */
  workspaceId?: string;
  apiKeyId?: string;
  /** Which emails its answer tells of. */
  emailIds?: readonly string[];
}

/** The request that the running code works for; what is known of it is in every log line. */
export const requestContext = new AsyncLocalStorage<RequestContext>();

/**
 * Has something done for the request that is being handled now, whoever calls it later. `AsyncLocalStorage.bind` does the same, but makes an
 * `AsyncResource`: accepting was a fifth slower by two for each request.
 */
export function inThisRequest<Given extends unknown[], Result>(
  act: (...given: Given) => Result,
): (...given: Given) => Result {
  const context = requestContext.getStore();
  return context === undefined ? act : (...given) => requestContext.run(context, act, ...given);
}

/** Adds to what the log lines of the request that is being handled say from here on; outside of a request it does nothing. */
export function addToLog(known: Omit<RequestContext, 'requestId'>): void {
  const context = requestContext.getStore();
  if (context !== undefined) Object.assign(context, known);
}
