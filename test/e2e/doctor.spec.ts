import { randomBytes } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
  type RequestListener,
  type Server,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { ExaminedDatabase } from '@posthorn/database';
import { readSettings, SecretSettings } from '@posthorn/platform';
import { machineChecks, trackingHostChecks } from '@posthorn/use-cases/operate';
import { Stack } from './stack.ts';

let stack: Stack;
let server: Server;

const secrets = { ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` };
beforeAll(async () => (stack = await Stack.start({ sends: false, env: secrets })));
afterAll(() => stack.close());
afterEach(() => void server.close());

/** Starts a proxy. @returns its URL, which leads to this machine but is not an address of its loopback */
async function proxy(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return `http://0.0.0.0:${(server.address() as AddressInfo).port}`;
}

/** Forwards what is below a path to the gateway, without that path and with a `Host` of its own, as nginx does by default. */
function forward(
  prefix: string,
  headersOf = (_incoming: IncomingMessage): OutgoingHttpHeaders => ({}),
): RequestListener {
  return (incoming, response) => {
    const path = incoming.url!;
    if (!path.startsWith(prefix)) return void response.writeHead(404).end('nothing here');
    const url = `${stack.gateways[0]!.url}${path.slice(prefix.length)}`;
    request(url, { headers: headersOf(incoming) }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    }).end();
  };
}

async function find(publicUrls: { PUBLIC_URL?: string; TRACKING_URL?: string }): Promise<string> {
  const checks = machineChecks({
    settingsFaults: [],
    unknownSettings: [],
    publicUrls,
    isRelayElsewhere: true,
    inbound: undefined,
  });
  const { kind, found } = await checks.find(({ name }) => name.startsWith('reach'))!.run();
  return `${kind}: ${found}`;
}

describe.each(['PUBLIC_URL', 'TRACKING_URL'] as const)('The doctor asks at %s, and', (name) => {
  it.each(['', '/mail'])('finds a gateway below the path "%s"', async (path) => {
    const url = (await proxy(forward(path))) + path;
    expect(await find({ [name]: url })).toBe(`good: a gateway answers at ${url}`);
  });

  it('finds a fault in an address that only this machine reaches, while a relay delivers emails', async () => {
    const { url } = stack.gateways[0]!;
    expect(await find({ [name]: url })).toBe(
      `fault: ${name} is ${url}: links in emails lead recipients to their own machine`,
    );
  });

  it.each([
    ['has no route to a gateway', 404],
    ['shows a page of its own', 200],
    ['redirects', 308],
    ['has no gateway that is up', 503],
  ])('finds a fault when a proxy %s', async (_what, status) => {
    const url = await proxy((_request, response) => response.writeHead(status).end('<h1>It works!</h1>'));
    expect(await find({ [name]: url })).toMatch(
      new RegExp(`^fault: ${url}/\\S+ is answered ${status}, but not by a gateway$`),
    );
  });
});

describe('The doctor asks at the host of a workspace, and', () => {
  async function findAt(url: string): Promise<string> {
    const { workspaceId } = stack.tenant;
    const sql = 'UPDATE workspaces SET tracking_url = $2 WHERE id = $1';
    await stack.database.pool.query(sql, [uuidOf(workspaceId), url]);
    const database = new ExaminedDatabase(stack.databaseUrl);
    const signer = readSettings({ secrets: SecretSettings }, secrets).secrets.linkSigner;
    const [check] = trackingHostChecks({ database, signer });
    const { kind, found } = await check!.run();
    await database.close();
    return `${kind}: ${found}`;
  }

  it('finds a gateway that is told the host', async () => {
    const url = await proxy(forward('', ({ headers }) => ({ host: headers.host })));
    expect(await findAt(url)).toBe('good: a gateway answers at the hosts of workspaces (1 were asked)');
  });

  it('finds a fault when a proxy writes another one', async () => {
    const url = await proxy(forward(''));
    expect(await findAt(url)).toBe(
      `fault: links of all workspaces work at ${url}: the gateway sees another host`,
    );
  });

  it('finds a fault when it leads elsewhere, or nowhere', async () => {
    const url = await proxy((_request, response) => response.writeHead(404).end('<h1>It works!</h1>'));
    expect(await findAt(url)).toBe(`fault: ${url} answers 404, but not as a gateway`);
    server.close();
    expect(await findAt('http://127.0.0.1:1')).toMatch(/^fault: http:\/\/127.0.0.1:1 does not answer: /);
  });
});
