import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../stack/runtime.mjs';

/** Up to this limit V8 uses a young generation of 1 MiB, above it the default (observed with Node 24.21 in a cgroup). */
const SMALL_CONTAINER_MIB = 512;

/**
 * Flags that give an app the heap that it has in its container on Kubernetes. Without a memory limit, V8 uses far more before it collects
 * garbage thoroughly.
 *
 * @param {string} app
 * @returns {string[]} flags for Node
 */
export function containerHeap(app) {
  const manifest = readFileSync(join(ROOT, 'k8s', 'base', `${app}.yaml`), 'utf8');
  const [deployment] = parseAllDocuments(manifest).map((document) => document.toJS());
  return heapFlags(deployment.spec.template.spec.containers[0].resources.limits.memory);
}

/**
 * Flags for the heap size that V8 chooses in a container with this memory limit: half of it for the old generation.
 *
 * @param {string} limit in Mi or Gi
 */
export function heapFlags(limit) {
  const [, amount, unit] = /^(\d+)(Mi|Gi)$/.exec(limit) ?? [];
  if (amount === undefined) throw new Error(`a limit of memory is in Mi or Gi, not ${limit}`);
  const mib = Number(amount) * (unit === 'Gi' ? 1_024 : 1);
  const flags = [`--max-old-space-size=${mib / 2}`];
  return mib > SMALL_CONTAINER_MIB ? flags : [...flags, '--max-semi-space-size=1'];
}
