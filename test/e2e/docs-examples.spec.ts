import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createHmac } from 'node:crypto';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { newRecipient, Stack, until } from './stack.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

interface Example {
  readonly page: string;
  readonly line: number;
  readonly language: string;
  readonly code: string;
  /** What it prints; `…` stands for anything. Undefined: nothing is said of it. */
  readonly prints: string | undefined;
}

/** How each language is run; one that the machine does not have is left out. */
const RUNNERS: Readonly<Record<string, { readonly file: string; readonly command: readonly string[] }>> = {
  sh: { file: 'example.sh', command: ['sh', '-eu'] },
  ts: { file: 'example.mts', command: [process.execPath, '--disable-warning=ExperimentalWarning'] },
  python: { file: 'example.py', command: ['python3'] },
  go: { file: 'main.go', command: ['go', 'run'] },
};
const isThere = (language: string): boolean => {
  const [program, asks] = [RUNNERS[language]!.command[0]!, language === 'go' ? 'version' : '--version'];
  return language === 'sh' || spawnSync(program, [asks]).status === 0;
};

/** The examples of a page: its fences in a language that is run, each with the `text` fence that follows it. */
function examplesOf(page: string): Example[] {
  const text = readFileSync(join(ROOT, 'docs', page), 'utf8');
  const fences = [...text.matchAll(/^```(\w+)\n(.*?)^```$/gms)];
  return fences.flatMap(({ 1: language = '', 2: code = '', index }, place) => {
    if (RUNNERS[language] === undefined) return [];
    const next = fences[place + 1];
    const line = text.slice(0, index).split('\n').length;
    return [{ page, line, language, code, prints: next?.[1] === 'text' ? next[2] : undefined }];
  });
}

const CALLS = ['quick-start.md', 'guide.md'].flatMap(examplesOf);
const RECEIVERS = examplesOf('receiving-webhooks.md');
const runnable = (examples: readonly Example[]): [string, Example][] =>
  examples
    .filter(({ language }) => isThere(language))
    .map((example) => [`${example.page}, line ${example.line} (${example.language})`, example]);

/** What is posted that Posthorn never posted. */
const BODY = '{"event":"FORGED"}';

let stack: Stack;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-docs-'));
  stack = await Stack.start({
    dispatchers: 1,
    env: { WEBHOOK_ALLOW_HTTP: 'true', WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8' },
  });
});
afterAll(async () => {
  await stack.close();
  rmSync(folder, { recursive: true });
});

/** Writes an example to a file, and says how it is run and with what around it. */
function prepared({ language, code }: Example): { command: string; args: string[]; env: NodeJS.ProcessEnv } {
  const { file, command } = RUNNERS[language]!;
  const path = join(mkdtempSync(join(folder, 'example-')), file);
  writeFileSync(path, code);
  const { NODE_OPTIONS: _jestOnly, ...inherited } = process.env;
  const env = { ...inherited, POSTHORN_URL: stack.gateways[0]!.url, POSTHORN_KEY: stack.tenant.keys.editor };
  return { command: command[0]!, args: [...command.slice(1), path], env };
}

function run(example: Example): Promise<{ code: number; stdout: string; stderr: string }> {
  const { command, args, env } = prepared(example);
  return new Promise((resolve) => {
    const child = execFile(command, args, { env, timeout: 60_000 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

/** What is said to be printed, as a pattern. */
function patternOf(prints: string): RegExp {
  const parts = prints
    .trim()
    .split('…')
    .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('[^]*')}$`);
}

describe('The examples of the documents', () => {
  it('are there, in every language, and each says what it prints', () => {
    expect(new Set(CALLS.map(({ language }) => language))).toEqual(new Set(['sh', 'ts', 'python', 'go']));
    expect(CALLS.filter(({ prints }) => prints === undefined)).toEqual([]);
    expect(RECEIVERS.map(({ language }) => language)).toEqual(['ts', 'python', 'go']);
  });

  it.each(runnable(CALLS))(
    'do what they say: %s',
    async (_where, example) => {
      const { code, stdout, stderr } = await run(example);
      expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout.trim()).toMatch(patternOf(example.prints!));
    },
    90_000,
  );
});

describe('The receivers of the documents', () => {
  it.each(runnable(RECEIVERS))(
    'W5, W6: take what is genuine, once, and refuse the rest: %s',
    async (_where, example) => {
      const port = await freePort();
      const url = `http://127.0.0.1:${port}/`;
      const added = await stack.api().post('/v1/webhooks', { url, events: ['CONTACT_CREATED'] });
      const { id, token } = added.body['webhook'] as { id: string; token: string };
      const { command, args, env } = prepared(example);
      const child = spawn(command, args, {
        env: { ...env, PORT: String(port), POSTHORN_WEBHOOK_TOKEN: token },
      });
      try {
        const printed = outputOf(child);
        await until(
          () =>
            fetch(url, { method: 'POST', body: '{}' }).then(
              () => true,
              () => false,
            ),
          'it listens',
          60_000,
        );
        await stack.api().post('/v1/contacts', { email: newRecipient() });
        await until(() => printed().includes('CONTACT_CREATED\n'), 'it has heard of the contact');
        await takesEachOnce(id, printed);
        await refusesTheRest(url, token);
      } finally {
        child.kill('SIGKILL');
        await stack.api().request('DELETE', `/v1/webhooks/${id}`, undefined);
      }
    },
    90_000,
  );
});

async function takesEachOnce(id: string, printed: () => string): Promise<void> {
  const deliveries = async (): Promise<{ id: string; status: string; attempts: number }[]> => {
    const answer = await stack.api().get(`/v1/webhooks/${id}/deliveries`);
    return (answer.body['deliveries'] as { items: { id: string; status: string; attempts: number }[] }).items;
  };
  await until(async () => (await deliveries())[0]?.status === 'SUCCEEDED', 'the delivery has succeeded');
  const [delivery] = await deliveries();
  await stack.api().post(`/v1/webhooks/${id}/deliveries/${delivery!.id}/redeliver`, {});
  await until(async () => (await deliveries())[0]?.status === 'SUCCEEDED', 'it has succeeded again');
  expect(printed()).toBe('CONTACT_CREATED\n');
}

async function refusesTheRest(url: string, token: string): Promise<void> {
  const now = Math.floor(Date.now() / 1_000);
  const post = async (headers: Record<string, string>): Promise<number> =>
    (await fetch(url, { method: 'POST', body: BODY, headers })).status;
  const signed = (id: string, time: number | string): Record<string, string> => ({
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,AAAA v1,${createHmac('sha256', token).update(`${id}.${time}.${BODY}`).digest('base64')}`,
  });
  expect(await post(signed('evt_1', now))).toBe(204);
  for (const time of [now - 301, now + 310, 'soon', '']) expect(await post(signed('evt_2', time))).toBe(401);
  const { 'webhook-signature': _left, ...unsigned } = signed('evt_3', now);
  for (const headers of [{}, unsigned, { ...signed('evt_4', now), 'webhook-id': 'evt_5' }])
    expect(await post(headers)).toBe(401);
}

function outputOf(child: ChildProcess): () => string {
  let output = '';
  child.stdout!.on('data', (bytes: Buffer) => (output += bytes.toString()));
  return () => output;
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
