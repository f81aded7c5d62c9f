import { createServer, request, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { machineChecks } from '@posthorn/use-cases/operate';
import { Stack } from './stack.ts';

let stack: Stack;
let server: Server;

beforeAll(async () => (stack = await Stack.start({ sends: false })));
afterAll(() => stack.close());
afterEach(() => void server.close());

/** Starts a proxy. @returns its URL, which leads to this machine but is not an address of its loopback */
async function proxy(answer: RequestListener): Promise<string> {
  server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, resolve));
  return `http://0.0.0.0:${(server.address() as AddressInfo).port}`;
}

/** Forwards what is below a path to the gateway, without that path. */
function forward(prefix: string): RequestListener {
  return (incoming, response) => {
    const path = incoming.url!;
    if (!path.startsWith(prefix)) return void response.writeHead(404).end('nothing here');
    request(`${stack.gateways[0]!.url}${path.slice(prefix.length)}`, (answer) => {
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
