import { AsyncLocalStorage } from 'node:async_hooks';

/** The fields that are added to the log lines of a request. */
export interface RequestContext {
  readonly requestId: string;
  /** The workspace and id of its API key. */
  workspaceId?: string;
  apiKeyId?: string;
  /** The emails in its response. */
  emailIds?: readonly string[];
}

/** The current request; its fields are in every log line. */
export const requestContext = new AsyncLocalStorage<RequestContext>();

/**
 * Binds a function to the context of the current request. `AsyncLocalStorage.bind` does the same, but creates an `AsyncResource`: with two per
 * request, accepting emails was a fifth slower.
 */
export function bindRequest<Given extends unknown[], Result>(
  act: (...given: Given) => Result,
): (...given: Given) => Result {
  const context = requestContext.getStore();
  return context === undefined ? act : (...given) => requestContext.run(context, act, ...given);
}

/** Adds fields to the later log lines of the current request; does nothing outside of a request. */
export function addToLog(known: Omit<RequestContext, 'requestId'>): void {
  const context = requestContext.getStore();
  if (context !== undefined) Object.assign(context, known);
}
