import type { Checkout } from './checkout.ts';
import { checkKubectlCalls } from './cluster.ts';
import { checkComposeCalls } from './containers.ts';
import { type Fence, fencesIn, SHOWN, whereIs } from './fences.ts';
import { checkScriptCalls } from './npm-scripts.ts';
import { RUNNERS } from './runners.ts';

/** What some examples need and tests do not have, by the value of `needs=`: they are not run, but their calls are checked. */
export const NEEDS: Readonly<
  Record<
    string,
    { readonly why: string; readonly check: (fence: Fence, checkout: Checkout) => Promise<void> }
  >
> = {
  cluster: { why: 'a cluster of Kubernetes', check: checkKubectlCalls },
  containers: { why: 'a container engine', check: checkComposeCalls },
  minutes: { why: 'a quarter of an hour', check: checkScriptCalls },
};

/** The blocks of a page that are neither run nor say why not. */
export function uncheckedBlocksIn(text: string, page: string): string[] {
  const known = [...SHOWN, ...Object.keys(RUNNERS), 'sql'];
  return fencesIn(text, page).flatMap((fence) => {
    if (!known.includes(fence.language))
      return [`${whereIs(fence)}: name its language, one of ${known.join(', ')}`];
    if (fence.needs === undefined) return [];
    if (NEEDS[fence.needs] === undefined)
      return [`${whereIs(fence)}: needs=${fence.needs} is none of ${Object.keys(NEEDS).join(', ')}`];
    return fence.language === 'sh' ? [] : [`${whereIs(fence)}: only shell blocks can be read instead of run`];
  });
}
