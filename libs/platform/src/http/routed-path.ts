/**
 * A path as Express looks for its route: in whatever letter case, with or without a slash at its end. Whatever is told by path of a route is
 * looked up by this, so that it holds for every request that the route takes.
 */
export function routedPath(path: string): string {
  return (path.endsWith('/') ? path.slice(0, -1) : path).toLowerCase();
}
