/**
 * The URL of the worker thread module `name` in the same folder as the module at the URL `here`: `.ts` when that runs from source, `.js` when it was
 * built.
 */
export function workerUrl(here: string, name: string): string {
  return new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here).href;
}
