/**
 * The URL from which a worker thread loads the module `name` in the folder of the module at `here`: TypeScript when that is run from source,
 * JavaScript when it was built.
 */
export function workerBeside(here: string, name: string): string {
  return new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here).href;
}
