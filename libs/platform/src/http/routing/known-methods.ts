import { Refusal } from '@posthorn/kernel';
import type { Request, RequestHandler, Response } from 'express';
import { answerOf, errorBody, writeError, type ErrorAnswer } from '../answers/error-answer.ts';
import { routedPath } from './routed-path.ts';

/** The path of the API reference, in apps that have one. */
const REFERENCE = '/docs';

/** The part of a layer of Express' router that is used here. */
export interface RouterLayer {
  readonly route?:
    { readonly path?: unknown; readonly methods: Readonly<Record<string, boolean>> } | undefined;
  match(path: string): unknown;
}

/** The methods of the routes for `path`, as in the `Allow` header; empty when no route matches. */
function knownMethods(stack: readonly RouterLayer[], path: string): string[] {
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || layer.route.methods['_all'] || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** The answer to a request without a route: 405 with `Allow` if the path has other methods, else 404. */
export function answerToUnrouted(stack: readonly RouterLayer[], method: string, path: string): ErrorAnswer {
  const allowed = literalPaths(stack).get(routedPath(path)) ?? knownMethods(stack, path);
  if (allowed.length > 0) return wrongMethod(method, allowed);
  const hint = knownMethods(stack, REFERENCE).length > 0 ? `; see ${REFERENCE} for the paths` : '';
  return answerOf(new Refusal(404, `There is nothing at ${path.slice(0, 200)}${hint}`), '');
}

/**
 * Gives literal paths precedence over routes with a parameter: `GET /v1/emails/batch` has the wrong method and does not ask for an email with
 * the id `batch`.
 *
 * @param stack the layers of the router; called at the first request, when all routes are registered
 */
export function literalPathsFirst(stack: () => readonly RouterLayer[]): RequestHandler {
  let methodsByPath: ReadonlyMap<string, readonly string[]> | undefined;
  return (request: Request, response: Response, next) => {
    methodsByPath ??= literalPaths(stack());
    const methods = methodsByPath.get(routedPath(request.path));
    if (methods === undefined || methods.includes(request.method)) next();
    else writeError(response, wrongMethod(request.method, methods));
  };
}

function literalPaths(stack: readonly RouterLayer[]): ReadonlyMap<string, readonly string[]> {
  const layers = stack.filter(({ route }) => isLiteral(route?.path) && !route?.methods['_all']);
  const paths = layers.map(({ route }) => route?.path).filter(isLiteral);
  return new Map(paths.map((path) => [routedPath(path), knownMethods(layers, path)]));
}

function isLiteral(path: unknown): path is string {
  return typeof path === 'string' && !/[:*{]/.test(path);
}

function wrongMethod(method: string, allowed: readonly string[]): ErrorAnswer {
  const message = `${method} is not allowed here; use ${allowed.join(' or ')}`;
  return { body: errorBody(405, message), headers: { Allow: allowed.join(', ') } };
}
