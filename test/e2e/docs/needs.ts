import type { Checkout } from './checkout.ts';
import { clusterHolds } from './cluster.ts';
import { composeHolds } from './containers.ts';
import { type Fence, fencesIn, SHOWN, whereIs } from './fences.ts';
import { helpHolds } from './long-runs.ts';
import { RUNNERS } from './runners.ts';

/** What some examples need and a test has not: why they are read here instead of run, and what they are held against. */
export const NEEDS: Readonly<
  Record<
    string,
    { readonly why: string; readonly holds: (fence: Fence, checkout: Checkout) => Promise<void> }
  >
> = {
  cluster: { why: 'a cluster of Kubernetes', holds: clusterHolds },
  containers: { why: 'a container engine', holds: composeHolds },
  minutes: { why: 'a quarter of an hour', holds: helpHolds },
};

/** Which blocks of a page nobody would run, and that do not say why. */
export function unheldIn(text: string, page: string): string[] {
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
