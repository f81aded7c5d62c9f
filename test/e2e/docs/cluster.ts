import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from '@jest/globals';
import { parse } from 'yaml';
import { callsOf, runLocally } from './program-calls.ts';
import type { Checkout } from './checkout.ts';
import { type Fence, fencesIn, textOf } from './fences.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

/** Kinds by their names in kubectl's arguments. */
const KINDS: Readonly<Record<string, string>> = { job: 'Job', cronjob: 'CronJob', deployment: 'Deployment' };
const WAITED_FOR = ['--for=condition=complete', '--for=jsonpath={.status.ready}=1'];

/** Checks a block's kubectl calls against the manifests that kustomize renders. */
export async function checkKubectlCalls(fence: Fence, checkout: Checkout): Promise<void> {
  writeManifests(fence.page, checkout);
  const applied = [...(await built('k8s/overlays/ours', checkout))];
  const calls = await callsOf(fence, ['kubectl'], checkout);
  expect(calls).not.toEqual([]);
  for (const [, ...words] of calls) {
    const isInNamespace = words[0] === '-n';
    if (isInNamespace) expect(applied.map(({ metadata }) => metadata.namespace)).toContain(words[1]);
    await checkCall(isInNamespace ? words.slice(2) : words, applied, checkout);
  }
}

async function checkCall(words: readonly string[], applied: Manifest[], checkout: Checkout): Promise<void> {
  const [verb, ...rest] = words;
  const isThere = (kind: string, name?: string): void =>
    expect(applied.filter((each) => each.kind === kind).map(({ metadata }) => metadata.name)).toContainEqual(
      name ?? expect.anything(),
    );
  const isThereAs = (reference = ''): void => {
    const [kind, name] = reference.split('/');
    isThere(KINDS[kind!]!, name);
  };
  if (verb === 'create' && rest[0] === 'job') {
    isThereAs(/^--from=(.+)$/.exec(rest[2]!)?.[1]);
    applied.push({ kind: 'Job', metadata: { name: rest[1]! } });
  } else if (verb === 'create') checkSecret(rest, applied);
  else if (verb === 'apply' && rest[0] === '-f') {
    const { kind, metadata } = parse(textOf(rest[1]!)) as Manifest;
    isThere(kind, metadata.name);
  } else if (verb === 'apply')
    expect([rest[0], await built(rest[1]!, checkout)]).toEqual([
      '-k',
      expect.arrayContaining([expect.anything()]),
    ]);
  else if (verb === 'exec') {
    isThereAs(rest[0]);
    expect(rest[1]).toBe('--');
    await runLocally(rest.slice(2), checkout);
  } else if (verb === 'wait') {
    expect(WAITED_FOR).toContain(rest[0]);
    isThereAs(rest[1]);
  } else if (verb === 'delete') isThere(KINDS[rest[0]!]!, rest[1]);
  else if (verb === 'rollout') {
    expect(['status', 'restart']).toContain(rest[0]);
    expect(rest[1]).toBe('deployment');
    isThere('Deployment');
  } else throw new Error(`kubectl ${verb} is not known to this test`);
}

/** Checks that a Secret has every key that pods require, and no other. */
function checkSecret([what, type, name, ...literals]: readonly string[], applied: readonly Manifest[]): void {
  expect([what, type]).toEqual(['secret', 'generic']);
  const given = literals.map((literal) => /^--from-literal=(\w+)=./.exec(literal)?.[1]);
  const asked = referencesIn(applied).filter((reference) => reference.name === name);
  const keys = (wanted: typeof asked): string[] => [...new Set(wanted.map(({ key }) => key))].sort();
  expect([...given].sort()).toEqual(keys(asked.filter(({ optional }) => optional !== true)));
}

interface SecretReference {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

function referencesIn(value: unknown): SecretReference[] {
  if (typeof value !== 'object' || value === null) return [];
  const { secretKeyRef } = value as { secretKeyRef?: SecretReference };
  return secretKeyRef === undefined ? Object.values(value).flatMap(referencesIn) : [secretKeyRef];
}

/** Writes the manifests that a page shows to the paths in their first lines. */
function writeManifests(page: string, checkout: Checkout): void {
  for (const { language, code } of fencesIn(textOf(page), page)) {
    const path = language === 'yaml' ? /^# (\S+)\n/.exec(code)?.[1] : undefined;
    if (path === undefined) continue;
    mkdirSync(dirname(join(checkout.folder, path)), { recursive: true });
    writeFileSync(join(checkout.folder, path), code);
  }
}

const made = new Map<string, Promise<Manifest[]>>();

/** What kustomize renders from a folder of the checkout, validated against the published schemas; rendered once. */
function built(folder: string, checkout: Checkout): Promise<Manifest[]> {
  const already = made.get(folder) ?? build(folder, checkout);
  made.set(folder, already);
  return already;
}

async function build(folder: string, checkout: Checkout): Promise<Manifest[]> {
  const script = `
    import { render, schemaFaults } from './tools/k8s/manifests.mjs';
    const manifests = await render(${JSON.stringify(folder)});
    console.log(JSON.stringify({ manifests, faults: await schemaFaults(manifests) }));`;
  const code = `node --input-type=module -e ${JSON.stringify(script).replaceAll('\\n', '\n')}`;
  const { stdout, stderr } = await checkout.run({ language: 'sh', code });
  if (stdout === '') throw new Error(stderr);
  const { manifests, faults } = JSON.parse(stdout) as { manifests: Manifest[]; faults: string[] };
  expect(faults).toEqual([]);
  return manifests;
}
