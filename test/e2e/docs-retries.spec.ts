import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { freePort } from '@posthorn/testing';
import { examplesOf, type Example } from './docs/fences.ts';
import { expectPrinted } from './docs/expected-output.ts';
import { cleanEnv, itWithExample, prepare, run } from './docs/runners.ts';
import { Stack } from './stack.ts';

const SECTION = 'Send it once';
const EXAMPLES = examplesOf('docs/guide.md').filter(({ section }) => section === SECTION);

/** What becomes of one request at a proxy whose gateway restarts. */
type Fate = 'refused' | 'accepted, and the answer is cut' | 'accepted, and the answer is late' | 'answered';

/** Each example sends an email, and then sends it again. */
const FATES: readonly Fate[] = [
  'refused',
  'accepted, and the answer is cut',
  'answered',
  'accepted, and the answer is late',
  'answered',
];

let folder: string;
const stack = Stack.forTests(() => {
  folder = mkdtempSync(join(tmpdir(), 'posthorn-docs-'));
  return { sends: false };
});
afterAll(() => rmSync(folder, { recursive: true }));

describe('S11: the examples that send an email once', () => {
  it('exist in every language', () => {
    expect(EXAMPLES.map(({ language }) => language)).toEqual(['ts', 'python', 'go']);
  });

  for (const example of EXAMPLES)
    itWithExample('lose nothing behind a proxy whose gateway restarts', example, () => losesNothing(example));
});

async function losesNothing(example: Example): Promise<void> {
  const accepted = (): Promise<number> => stack.count('SELECT count(*)::int FROM emails');
  const before = await accepted();
  const fates = [...FATES];
  const port = await freePort();
  const proxy = await startProxy(port, () => fates.shift()!);
  try {
    const env = { POSTHORN_URL: `http://127.0.0.1:${port}`, POSTHORN_KEY: stack.tenant.keys.apiUser };
    const outcome = await run(await prepare(example, folder), { cwd: folder, env: cleanEnv(env) });
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expectPrinted(example.prints!, outcome.stdout);
    expect(fates).toEqual([]);
    expect((await accepted()) - before).toBe(1);
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
}

async function startProxy(port: number, nextFate: () => Fate): Promise<Server> {
  const proxy = createServer((request, response) => {
    void answer(request, response, nextFate());
  });
  await new Promise<void>((resolve) => proxy.listen(port, '127.0.0.1', resolve));
  return proxy;
}

async function answer(request: IncomingMessage, response: ServerResponse, fate: Fate): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const page = (status: number): void => {
    response.writeHead(status, { 'Content-Type': 'text/html' }).end('<h1>No gateway</h1>');
  };
  if (fate === 'refused') return page(502);
  const { headers, method, url } = request;
  const given = await fetch(stack.gateways[0]!.url + url!, {
    method: method!,
    headers: {
      'Authorization': headers.authorization!,
      'Content-Type': headers['content-type']!,
      'Idempotency-Key': String(headers['idempotency-key']),
    },
    body: Buffer.concat(chunks),
  });
  const body = Buffer.from(await given.arrayBuffer());
  if (fate === 'accepted, and the answer is late') return page(504);
  response.writeHead(given.status, { 'Content-Type': 'application/json', 'Content-Length': body.length });
  if (fate === 'answered') response.end(body);
  else response.write(body.subarray(0, 20), () => response.destroy());
}
