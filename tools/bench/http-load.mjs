import { connect } from 'node:net';
import { nowMs } from './clock.mjs';

const END_OF_HEAD = '\r\n\r\n';

/**
 * The bytes of a request that posts an email.
 *
 * @param {number} port
 * @param {string} key
 * @param {object} email
 */
export function emailRequest(port, key, email) {
  return jsonRequest(port, key, '/v1/emails', email);
}

/**
 * The bytes of a request that posts JSON. They are built once and written many times, so that the load generator takes little of the
 * machine.
 *
 * @param {number} port
 * @param {string} key
 * @param {string} path
 * @param {object} value
 */
export function jsonRequest(port, key, path, value) {
  const body = JSON.stringify(value);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: Bearer ${key}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

/**
 * Posts JSON, once.
 *
 * @param {number} port @param {string} key @param {string} path @param {object} value
 * @returns {Promise<any>} the body of the answer
 * @throws when its status is not 2xx
 */
export async function post(port, key, path, value) {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { 'Authorization': `Bearer ${key}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(value),
  });
  if (!answer.ok) throw new Error(`POST ${path}: ${await answer.text()}`);
  return answer.json();
}

/**
 * Keeps this many connections busy: each writes the next request when the answer to its last one is complete.
 *
 * @param {object} options
 * @param {number} options.port on 127.0.0.1
 * @param {number} options.connections
 * @param {() => Buffer | undefined} options.next the next request; undefined: no more
 * @param {(ms: number, endedAt: number) => void} [options.onAnswer]
 * @throws when an answer is not 200: refused or failed requests must not be counted
 */
export async function load({ port, connections, next, onAnswer = () => undefined }) {
  const busy = Array.from({ length: connections }, () => keepBusy(port, next, onAnswer));
  try {
    await Promise.all(busy.map(({ done }) => done));
  } finally {
    for (const { socket } of busy) socket.destroy();
  }
}

function keepBusy(port, next, onAnswer) {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  const done = new Promise((resolve, reject) => {
    let begunAt = 0;
    let pending = Buffer.alloc(0);
    const begin = () => {
      const request = next();
      if (request === undefined) return resolve(undefined);
      begunAt = nowMs();
      socket.write(request);
    };
    socket.once('connect', begin);
    socket.on('data', (chunk) => {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const length = answerLength(pending);
      if (length === undefined || pending.length < length) return;
      if (pending.toString('latin1', 9, 12) !== '200') return reject(new Error(pending.toString()));
      pending = Buffer.alloc(0);
      const endedAt = nowMs();
      onAnswer(endedAt - begunAt, endedAt);
      begin();
    });
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server hung up')));
  });
  return { socket, done };
}

/** @param {Buffer} bytes @returns {number | undefined} undefined while the head is not complete */
function answerLength(bytes) {
  const end = bytes.indexOf(END_OF_HEAD);
  if (end < 0) return undefined;
  const length = /content-length: *(\d+)/i.exec(bytes.toString('latin1', 0, end))?.[1];
  return end + END_OF_HEAD.length + Number(length ?? 0);
}

/**
 * Sends requests for some time, and measures those answered after the warm-up.
 *
 * @param {object} options
 * @param {number} options.port
 * @param {number} options.connections
 * @param {() => Buffer} options.next
 * @param {number} options.warmMs
 * @param {number} options.measureMs
 * @returns {Promise<{ perSecond: number, answers: number, latencies: number[] }>} `answers`: including the warm-up
 */
export async function loadForTime({ port, connections, next, warmMs, measureMs }) {
  const from = nowMs() + warmMs;
  const to = from + measureMs;
  /** @type {number[]} */
  const latencies = [];
  let answers = 0;
  await load({
    port,
    connections,
    next: () => (nowMs() < to ? next() : undefined),
    onAnswer: (ms, endedAt) => {
      answers += 1;
      if (endedAt >= from && endedAt < to) latencies.push(ms);
    },
  });
  return { perSecond: (latencies.length / measureMs) * 1_000, answers, latencies };
}
