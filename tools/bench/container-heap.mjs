import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { ROOT } from '../stack/runtime.mjs';

/** Up to this limit V8 makes do with a young generation of 1 MiB, above it with the same as anywhere (Node 24.21, seen in a cgroup). */
const SMALL_CONTAINER_MIB = 512;

/**
 * What gives an app the heap that Node gives it in its container on Kubernetes. Where nothing limits the memory of a process, V8 takes far
 * more before it looks for garbage in earnest.
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
 * Flags that make the heap as large as V8 makes it by itself in a container with so much memory: half of it is for what is old.
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
