import { Refusal } from '@posthorn/kernel';
import { answerOf, errorBody, type ErrorAnswer } from './error-answer.ts';

/** The part of a layer of Express' router that is looked at. */
export interface RouterLayer {
  readonly route?: { readonly methods: Readonly<Record<string, boolean>> } | undefined;
  match(path: string): unknown;
}

/** The methods that some route has for `path`, as the `Allow` header lists them; none when no route knows the path. */
function knownMethods(stack: readonly RouterLayer[], path: string): string[] {
  const methods = new Set<string>();
  for (const layer of stack) {
    if (!layer.route || layer.route.methods['_all'] || !layer.match(path)) continue;
    for (const method of Object.keys(layer.route.methods)) methods.add(method.toUpperCase());
  }
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods].sort();
}

/** The answer to a request that no route took: 405 with `Allow` where the path is known, else 404. */
export function answerToUnrouted(stack: readonly RouterLayer[], method: string, path: string): ErrorAnswer {
  const allowed = knownMethods(stack, path);
  if (allowed.length === 0) {
    return answerOf(
      new Refusal(404, `There is nothing at ${path.slice(0, 200)}; see the API reference for the paths`),
      '',
    );
  }
  const message = `${method} is not possible here; use ${allowed.join(' or ')}`;
  return { body: errorBody(405, message), headers: { Allow: allowed.join(', ') } };
}
