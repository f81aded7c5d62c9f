import { createServer } from 'node:net';

/** How far above the preferred port to look before any free port is taken. */
const NEIGHBOURS = 50;

/**
 * Whether nobody listens on the port, neither on 127.0.0.1 nor on all addresses.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
async function isFree(port) {
  return (await canListen(port, '127.0.0.1')) && (await canListen(port, undefined));
}

function canListen(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/** A port that the system chooses. @returns {Promise<number>} */
export function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
      server.close(() => resolve(port));
    });
  });
}

/**
 * A port for each name: the preferred one, or else the next free one that nobody else of the table prefers.
 *
 * @template {string} Name
 * @param {Record<Name, number>} preferred
 * @returns {Promise<Record<Name, number>>}
 */
export async function choosePorts(preferred) {
  const spoken = new Set(Object.values(preferred));
  const chosen = {};
  for (const [name, port] of Object.entries(preferred)) {
    chosen[name] = (await isFree(port)) ? port : await freeNeighbour(port, spoken);
    spoken.add(chosen[name]);
  }
  return /** @type {Record<Name, number>} */ (chosen);
}

async function freeNeighbour(preferred, spoken) {
  for (let port = preferred + 1; port < preferred + NEIGHBOURS; port += 1) {
    if (!spoken.has(port) && (await isFree(port))) return port;
  }
  return freePort();
}
