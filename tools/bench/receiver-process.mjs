// A receiver of webhooks that costs next to nothing. It says 200 to each request and knows when which delivery came first; but to
// `/dead…` it says nothing at all, and to `/slow…` it says so late.
import { createServer } from 'node:net';
import { answerParent, listen } from './helper.mjs';

const END_OF_HEADER = '\r\n\r\n';
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** Later than a receiver may without being taken for slow, earlier than the deadline. */
const SLOW_MS = 3_000;
const LENGTH = '\r\ncontent-length: ';
const DELIVERY = '\r\nx-service-delivery-id: ';
const EVENT = '\r\nx-service-event-id: ';

/** @typedef {{ at: number, path: string, event: string }} Arrival `at`: in ms since 1970 */

/** By the id of the delivery, in the order in which they came. @type {Map<string, Arrival>} */
let arrivals = new Map();
let count = 0;

/** @param {import('node:net').Socket} socket */
function serve(socket) {
  let input = '';
  socket.setNoDelay(true).on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    input += chunk.toString('latin1');
    for (let end = endOfRequest(input); end > 0; end = endOfRequest(input)) {
      answer(socket, keep(input));
      input = input.slice(end);
    }
  });
}

/** @param {string} path */
function answer(socket, path) {
  if (path.startsWith('/slow')) setTimeout(() => socket.write(ANSWER), SLOW_MS);
  else if (!path.startsWith('/dead')) socket.write(ANSWER);
}

/** Keeps when a request came; says its path. */
function keep(input) {
  const path = input.slice('POST '.length, input.indexOf(' ', 'POST '.length));
  const delivery = fieldOf(input, DELIVERY);
  count += 1;
  if (!arrivals.has(delivery)) arrivals.set(delivery, { at: now(), path, event: fieldOf(input, EVENT) });
  return path;
}

/** The wall clock, which Postgres has too, in parts of milliseconds. */
function now() {
  return performance.timeOrigin + performance.now();
}

function fieldOf(input, name) {
  const begin = input.indexOf(name);
  return begin < 0 ? '' : input.slice(begin + name.length, input.indexOf('\r\n', begin + name.length));
}

/** 0 as long as the request has not come whole. @param {string} input */
function endOfRequest(input) {
  const end = input.indexOf(END_OF_HEADER);
  if (end < 0) return 0;
  const whole = end + END_OF_HEADER.length + Number(fieldOf(input, LENGTH));
  return input.length < whole ? 0 : whole;
}

/** Milliseconds from the arrival of number `warmUp` to the last. */
function paced(warmUp) {
  const times = [...arrivals.values()].map(({ at }) => at);
  return (times.at(-1) ?? 0) - (times[warmUp] ?? 0);
}

answerParent({
  listen: () => listen(createServer(serve)),
  reset: () => {
    arrivals = new Map();
    count = 0;
  },
  count: () => count,
  report: ({ warmUp }) => ({ count, deliveries: arrivals.size, ms: paced(warmUp) }),
  arrivals: () => [...arrivals.values()],
});
