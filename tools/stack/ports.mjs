import { createServer } from 'node:net';

/** How far above the preferred port to look before any free port is taken. */
const NEIGHBOURS = 50;

/**
 * Whether nobody listens on the port, neither on 127.0.0.1 nor on all addresses.
 *
 * @param {number} port
 * @returns {Promise<boolean>}
 */
export async function isFree(port) {
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

/** Hands out ports that are free now, and none of them twice. */
export class Ports {
  /** @type {Set<number>} */
  #given = new Set();

  /**
   * The preferred port, or else the next free one above it.
   *
   * @param {number} preferred
   * @returns {Promise<number>}
   */
  async take(preferred) {
    for (let port = preferred; port < preferred + NEIGHBOURS; port += 1) {
      if (!this.#given.has(port) && (await isFree(port))) return this.#give(port);
    }
    return this.#give(await freePort());
  }

  #give(port) {
    this.#given.add(port);
    return port;
  }
}
