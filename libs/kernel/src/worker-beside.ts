/**
 * Where a thread finds the module `name`, which lies beside the module at `here`: Node runs the source as it is; the build
 * has put JavaScript beside it.
 */
export function workerBeside(here: string, name: string): string {
  return new URL(`./${name}${here.endsWith('.ts') ? '.ts' : '.js'}`, here).href;
}
