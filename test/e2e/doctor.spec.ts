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
import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { freePort } from '@posthorn/testing';
import { ExaminedDatabase } from '@posthorn/database';
import { readSettings, SecretSettings } from '@posthorn/platform';
import { machineChecks, trackingHostChecks } from '@posthorn/use-cases/operate';
import { Stack } from './stack.ts';

const secrets = { ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` };
const stack = Stack.forTests({ sends: false, env: secrets });
let server: Server;

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

const SOUND_MACHINE = {
  settingsFaults: [],
  unknownSettings: [],
  publicUrls: {},
  isRelayElsewhere: true,
  inbound: undefined,
};

async function find(examined: Partial<Parameters<typeof machineChecks>[0]>): Promise<string> {
  const checks = machineChecks({ ...SOUND_MACHINE, ...examined });
  const { kind, found } = await checks.find(({ name }) => name.startsWith('reach'))!.run();
  return `${kind}: ${found}`;
}

describe.each(['PUBLIC_URL', 'TRACKING_URL'] as const)('The doctor asks at %s, and', (name) => {
  it.each(['', '/mail'])('finds a gateway below the path "%s"', async (path) => {
    const url = (await proxy(forward(path))) + path;
    expect(await find({ publicUrls: { [name]: url } })).toBe(`good: a gateway answers at ${url}`);
  });

  it('finds a fault in an address that only this machine reaches, while a relay delivers emails', async () => {
    const { url } = stack.gateways[0]!;
    expect(await find({ publicUrls: { [name]: url } })).toBe(
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
    expect(await find({ publicUrls: { [name]: url } })).toMatch(
      new RegExp(`^fault: ${url}/\\S+ is answered ${status}, but not by a gateway$`),
    );
  });
});

describe('The doctor asks at the host of a workspace, and', () => {
  afterAll(() => setTrackingUrl(null));

  async function setTrackingUrl(url: string | null): Promise<void> {
    const sql = 'UPDATE workspaces SET tracking_url = $2 WHERE id = $1';
    await stack.database.pool.query(sql, [uuidOf(stack.tenant.workspaceId), url]);
  }

  async function findAt(url: string): Promise<string> {
    await setTrackingUrl(url);
    const database = new ExaminedDatabase(stack.databaseUrl);
    const signer = readSettings({ secrets: SecretSettings }, secrets).secrets.linkSigner;
    const [check] = trackingHostChecks({ database, signer, linksUrl: undefined });
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

describe('The doctor compares the keys of the gateway with its own, and finds', () => {
  async function compare(linksUrl: string, settings = secrets): Promise<string> {
    const signer = readSettings({ secrets: SecretSettings }, settings).secrets.linkSigner;
    const database = { readTrackingUrls: () => Promise.resolve([]) };
    const checks = trackingHostChecks({ database, signer, linksUrl });
    const { kind, found } = await checks.find(({ name }) => name === 'keys of the gateway')!.run();
    return `${kind}: ${found}`;
  }

  it('that they agree, without a trace', async () => {
    expect(await compare(await proxy(forward('')))).toMatch(/^good: /);
    expect(await stack.count('SELECT count(*)::int FROM email_engagements')).toBe(0);
  });

  it('a fault when the gateway lacks the key that signs', async () => {
    const url = await proxy(forward(''));
    const others = { ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` };
    expect(await compare(url, others)).toMatch(
      /^fault: the gateway at \S+ does not know the first key of ENCRYPTION_KEYS/,
    );
  });

  it('that it is not known when no gateway answers', async () => {
    const url = await proxy((_request, response) => response.writeHead(404).end('<h1>It works!</h1>'));
    expect(await compare(url)).toMatch(/^unknown: whether the gateway at \S+ has the same/);
  });
});

it('The doctor compares BOUNCE_DOMAIN with what inbound has', async () => {
  const [domain, host, port] = ['bounces.example.com', '127.0.0.1', await freePort()];
  const settings = { BOUNCE_DOMAIN: domain, INBOUND_HOST: host, INBOUND_PORT: String(port) };
  const inbound = await stack.startApp('inbound', settings);
  await inbound.program.waitForOutput('accepting returned mail');
  expect(await find({ inbound: { host, port, domain } })).toMatch(/^good: inbound greets/);
  expect(await find({ inbound: { host, port, domain: 'other.example.com' } })).toMatch(
    /^fault: what greets at \S+, port \d+ is bounces\.example\.com, while BOUNCE_DOMAIN is other\.example\.com/,
  );
});
