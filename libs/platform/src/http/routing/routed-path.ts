/**
 * Normalises a path as Express' router does, which ignores case and a trailing slash. Options by path are looked up by it, so that they apply
 * to every request that matches the route.
 */
export function routedPath(path: string): string {
  return (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase();
}
