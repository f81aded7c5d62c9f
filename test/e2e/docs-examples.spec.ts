import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { openDatabase } from '@posthorn/database';
import { DnsServer, PostgresTools, PrivatePostgres } from '@posthorn/testing';
import { Checkout } from './docs/checkout.ts';
import { type Example, examplesOf, PAGES, textOf, whereIs } from './docs/fences.ts';
import { NEEDS } from './docs/needs.ts';
import { expectPrinted } from './docs/expected-output.ts';
import { Reader } from './docs/reader.ts';
import { cleanEnv, itWithExample, type Outcome } from './docs/runners.ts';

/** Far more than any example takes. */
const WITHIN_MS = 900_000;

/** The page of receivers, whose examples docs-receivers.spec.ts runs. */
const OF_RECEIVERS = 'docs/receiving-webhooks.md';

const examples = PAGES.filter((page) => page !== OF_RECEIVERS).flatMap(examplesOf);
const inSection = (page: string, section: string): Example[] =>
  examples.filter((example) => example.page === page && example.section === section);

/** The first example starts the stack that the others are run against. */
const START = examples[0]!;
const OTHER_RELAY = inSection('README.md', 'Through your relay');
const FIRST_START = inSection('docs/operations/installing.md', 'First start');
const BACKUP = inSection('docs/operations/data.md', 'Backup and restore');
const DELETION = inSection('docs/operations/data.md', 'Deleting a workspace');
const apart = new Set([START, ...OTHER_RELAY, ...FIRST_START, ...BACKUP, ...DELETION]);

const declared = examples.filter(({ needs }) => needs !== undefined);
const run = examples.filter(({ needs }) => needs === undefined);
const runnable = (chosen: readonly Example[]): [string, Example][] =>
  chosen.filter(({ needs }) => needs === undefined).map((example) => [whereIs(example), example]);

/** SQL in the text of a page, such as a runbook's. */
const statements = PAGES.flatMap((page) =>
  [...textOf(page).matchAll(/`(SELECT [^`]+)`/g)].map(([, sql]): [string, string] => [page, sql!]),
);

let folder: string;
let checkout: Checkout;
let names: DnsServer;
let start: Outcome;
const readers = new Map<string, Reader>();
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-docs-'));
  chmodSync(folder, 0o755);
  names = await DnsServer.start();
  names.set('example.com', { addresses: ['192.0.2.1'] });
  checkout = Checkout.make(join(folder, 'posthorn'));
  start = await readerOf(START.page).run(START);
}, WITHIN_MS);
afterAll(async () => {
  await checkout.remove();
  await names.close();
  rmSync(folder, { recursive: true, force: true });
}, WITHIN_MS);

/** One reader for each page: the output and variables of its examples are available to those below. */
function readerOf(page: string): Reader {
  if (!readers.has(page)) readers.set(page, new Reader(checkout, names));
  return readers.get(page)!;
}

function expectDone(example: Example, { code, stdout, stderr }: Outcome): void {
  expect({ code, stderr: code === 0 ? '' : `${stdout}\n${stderr}` }).toEqual({ code: 0, stderr: '' });
  if (example.prints !== undefined) expectPrinted(example.prints, stdout);
}

async function ask(databaseUrl: string, sql: string): Promise<void> {
  const database = openDatabase({ url: databaseUrl, poolSize: 1, applicationName: 'posthorn-e2e' });
  try {
    await database.pool.query(sql);
  } finally {
    await database.close();
  }
}

/** An empty database on the same server. @returns its URL */
async function addDatabase(databaseUrl: string): Promise<string> {
  await ask(databaseUrl, 'CREATE DATABASE another');
  const url = new URL(databaseUrl);
  url.pathname = '/another';
  return url.href;
}

async function posthorn(words: string, databaseUrl: string): Promise<string> {
  const typed = { language: 'sh', code: `npm run posthorn -- ${words}` };
  const { code, stdout, stderr } = await checkout.run(typed, { DATABASE_URL: databaseUrl });
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

describe('The examples of the documents', () => {
  it(`do what they say: ${whereIs(START)}`, () => expectDone(START, start));

  for (const example of run.filter((each) => !apart.has(each) && each.language !== 'sql')) {
    const does = async (): Promise<void> => expectDone(example, await readerOf(example.page).run(example));
    itWithExample('do what they say', example, does, WITHIN_MS);
  }

  it.each([
    ...run
      .filter(({ language }) => language === 'sql')
      .map((example): [string, string] => [whereIs(example), example.code]),
    ...statements,
  ])('query existing tables and columns: %s', async (_where, sql) => {
    await ask(checkout.stack.databaseUrl, sql.replaceAll('…', '00000000-0000-7000-8000-000000000000'));
  });
});

describe('The examples for operators', () => {
  it(
    'make a first start on an empty database',
    async () => {
      const databaseUrl = await addDatabase(checkout.stack.databaseUrl);
      const fresh = Checkout.make(join(folder, 'first-start'));
      const reader = new Reader(fresh, names, databaseUrl);
      try {
        for (const [, example] of runnable(FIRST_START)) expectDone(example, await reader.run(example));
      } finally {
        await fresh.remove();
      }
    },
    WITHIN_MS,
  );

  it(
    'delete a workspace, here one that was created for this',
    async () => {
      const reader = new Reader(checkout, names);
      const [example] = DELETION;
      const created = { ...example!, code: 'npm run posthorn -- workspace create --name "The shop"' };
      for (const each of [created, ...DELETION]) expectDone(each, await reader.run(each));
    },
    WITHIN_MS,
  );

  const tools = PostgresTools.find();
  (tools === undefined ? it.skip : it)(
    `make a backup and restore it, which pauses everything${tools === undefined ? ': left out, this machine lacks pg_dump' : ''}`,
    async () => {
      const server = await PrivatePostgres.start({ binaries: tools!.binaries });
      try {
        const restored = await addDatabase(server.url);
        await posthorn('workspace create --name Kept', server.url);
        const PATH = `${tools!.binaries}${delimiter}${cleanEnv()['PATH']}`;
        const env = { DATABASE_URL: server.url, NEW_DATABASE_URL: restored, PATH };
        for (const [, example] of runnable(BACKUP))
          expectDone(example, await readerOf(example.page).run(example, env));
        expect(await posthorn('workspace list', restored)).toContain('Kept');
        expect(await posthorn('status', restored)).toMatch(/restored/);
      } finally {
        await server.close();
      }
    },
    WITHIN_MS,
  );

  it.each(
    declared.map((example): [string, string, Example] => [
      NEEDS[example.needs!]!.why,
      whereIs(example),
      example,
    ]),
  )(
    'that need %s refer to things that exist: %s',
    async (_why, _where, example) => NEEDS[example.needs!]!.check(example, checkout),
    WITHIN_MS,
  );

  it(
    'start with the reader’s own relay, after the stack was down',
    async () => {
      expect((await checkout.run({ language: 'sh', code: 'npm run down' })).stdout).toContain(
        'Posthorn is down.',
      );
      for (const [, example] of runnable(OTHER_RELAY))
        expectDone(example, await readerOf(example.page).run(example));
    },
    WITHIN_MS,
  );
});
