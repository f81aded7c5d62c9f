import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { nodeBinary, ROOT } from '../stack/runtime.mjs';

/**
 * One object of a cluster, as `kubectl apply` would send it.
 *
 * @typedef {{ apiVersion: string, kind: string, metadata: { name: string, labels?: Record<string, string> } } & Record<string, any>} Manifest
 */

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** The packages with the types and validators of an API group, generated from the schemas that Kubernetes and the operators publish. */
const PACKAGES = {
  'gateway.networking.k8s.io': '@kubernetes-models/gateway-api',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
};

/**
 * The output of kustomize for a folder.
 *
 * @param {string} folder from the root of the repository
 * @returns {Promise<Manifest[]>}
 */
export async function render(folder) {
  const kustomize = require.resolve('kustomize/run.js');
  const { stdout } = await run(nodeBinary(), [kustomize, 'build', folder], { cwd: ROOT, maxBuffer: 2 ** 24 });
  return parseAllDocuments(stdout).map((document) => document.toJS());
}

/**
 * Violations of the published schemas: required fields, types, formats, patterns.
 *
 * @param {readonly Manifest[]} manifests
 * @returns {Promise<string[]>}
 */
export async function schemaFaults(manifests) {
  const faults = await Promise.all(
    manifests.map(async (manifest) => {
      const { [manifest.kind]: Model } = await import(moduleOf(manifest));
      try {
        new Model(manifest).validate();
        return [];
      } catch (error) {
        return [`${nameOf(manifest)}: ${error.message}`];
      }
    }),
  );
  return faults.flat();
}

/**
 * Unknown fields, and values of the wrong type. The schemas allow unknown fields, which Kubernetes then silently drops; the compiler
 * rejects them in an object literal.
 *
 * @param {readonly Manifest[]} manifests
 * @param {string} name of the file that is written for the compiler
 * @returns {Promise<string[]>} the errors of the compiler
 */
export async function typeFaults(manifests, name) {
  const directory = join(ROOT, '.cache', 'k8s');
  await mkdir(directory, { recursive: true });
  const file = join(directory, `${name}.ts`);
  await writeFile(file, manifests.map(asLiteral).join('\n'));
  const compiler = join(ROOT, 'node_modules', 'typescript-7', 'bin', 'tsc');
  const options = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext'];
  try {
    await run(nodeBinary(), [compiler, ...options, '--pretty', 'false', file], { cwd: ROOT });
    return [];
  } catch (error) {
    return String(error.stdout || error.message)
      .trim()
      .split('\n');
  }
}

/** @param {Manifest} manifest */
export function nameOf({ kind, metadata }) {
  return `${kind} ${metadata.name}`;
}

function asLiteral(manifest, index) {
  const type = `import('${moduleOf(manifest)}').I${manifest.kind}`;
  return `export const manifest${index}: ${type} = ${JSON.stringify(manifest, null, 2)};`;
}

/** @param {Manifest} manifest */
function moduleOf({ apiVersion }) {
  const [group = ''] = apiVersion.split('/');
  return `${PACKAGES[group] ?? 'kubernetes-models'}/${apiVersion}`;
}
