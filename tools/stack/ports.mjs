import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { createServer } from 'node:net';

/**
 * The range for free ports: above all that `fetch` refuses to connect to (Fetch Standard, section 2.9; the highest is 10080), below Linux's ephemeral range
 * (ip_local_port_range).
 */
const LOWEST = 10_081;
const FIRST_EPHEMERAL = 32_768;
const TRIES = 200;

/** How many ports from the preferred one on are tried before any free port is taken. */
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

/**
 * Whether a server could listen there now.
 *
 * @param {number} port
 * @param {string} [host] default: all addresses
 * @returns {Promise<boolean>}
 */
export function canListen(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

/**
 * A free port, reserved for the caller until this process ends: it lies below the ephemeral range, which systems use for outgoing
 * connections and for servers that listen on port 0, and the UDP port of the same number, which nothing here uses, is bound to mark it as
 * taken. It is marked before it is tried: a port that another process has reserved would be in use for the moment of the trial, just when its own server
 * may be about to listen there.
 *
 * @returns {Promise<number>}
 * @throws when no port is free
 */
export async function freePort() {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const port = randomInt(LOWEST, FIRST_EPHEMERAL);
    if (await take(port)) return port;
  }
  throw new Error(`no port is free from ${LOWEST} to ${FIRST_EPHEMERAL - 1}`);
}

/** Reserves the port. Resolves with whether it was free. @param {number} port */
async function take(port) {
  const marker = await mark(port);
  if (marker === undefined) return false;
  if (await isFree(port)) return true;
  await new Promise((resolve) => marker.close(() => resolve(undefined)));
  return false;
}

/** @param {number} port @returns {Promise<import('node:dgram').Socket | undefined>} undefined if it is marked already */
function mark(port) {
  return new Promise((resolve) => {
    const marker = createSocket('udp4').unref();
    marker.once('error', () => marker.close(() => resolve(undefined)));
    marker.bind({ port, address: '127.0.0.1', exclusive: true }, () => resolve(marker));
  });
}

/**
 * A port for each name, reserved as by `freePort`: the preferred one, or else the next free one that is not preferred for another name.
 *
 * @template {string} Name
 * @param {Record<Name, number>} preferred
 * @returns {Promise<Record<Name, number>>}
 */
export async function choosePorts(preferred) {
  const reserved = new Set(Object.values(preferred));
  const chosen = {};
  for (const [name, port] of Object.entries(preferred)) {
    chosen[name] = (await take(port)) ? port : await freeNeighbour(port, reserved);
  }
  return /** @type {Record<Name, number>} */ (chosen);
}

async function freeNeighbour(preferred, reserved) {
  for (let port = preferred + 1; port < preferred + NEIGHBOURS; port += 1) {
    if (!reserved.has(port) && (await take(port))) return port;
  }
  return freePort();
}
