// A webhook receiver that takes almost no CPU. It answers 200 and records when each delivery arrived first; but it never answers
// `/dead…`, and `/slow…` only after SLOW_MS.
import { createServer } from 'node:net';
import { answerParent, listen } from './bench-process.mjs';
import { paceOf } from './numbers.mjs';

const END_OF_HEADER = '\r\n\r\n';
const ANSWER = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
/** Long enough that the receiver counts as slow, but within the deadline. */
const SLOW_MS = 3_000;
const LENGTH = '\r\ncontent-length: ';
const DELIVERY = '\r\nx-service-delivery-id: ';
const EVENT = '\r\nx-service-event-id: ';

/** @typedef {{ at: number, path: string, event: string }} Arrival `at`: in ms since 1970 */

/** By the id of the delivery, in the order of arrival. @type {Map<string, Arrival>} */
let arrivals = new Map();
let count = 0;

/** @param {import('node:net').Socket} socket */
function serve(socket) {
  let input = '';
  socket.setNoDelay(true).on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    input += chunk.toString('latin1');
    for (let end = endOfRequest(input); end > 0; end = endOfRequest(input)) {
      answer(socket, record(input));
      input = input.slice(end);
    }
  });
}

/** @param {string} path */
function answer(socket, path) {
  if (path.startsWith('/slow')) setTimeout(() => socket.write(ANSWER), SLOW_MS);
  else if (!path.startsWith('/dead')) socket.write(ANSWER);
}

/** Records a request; returns its path. */
function record(input) {
  const path = input.slice('POST '.length, input.indexOf(' ', 'POST '.length));
  const delivery = fieldOf(input, DELIVERY);
  count += 1;
  if (!arrivals.has(delivery)) arrivals.set(delivery, { at: now(), path, event: fieldOf(input, EVENT) });
  return path;
}

/** The wall clock, which Postgres uses too, with more precision than whole milliseconds. */
function now() {
  return performance.timeOrigin + performance.now();
}

function fieldOf(input, name) {
  const begin = input.indexOf(name);
  return begin < 0 ? '' : input.slice(begin + name.length, input.indexOf('\r\n', begin + name.length));
}

/** The length of the first request; 0 while it is incomplete. @param {string} input */
function endOfRequest(input) {
  const end = input.indexOf(END_OF_HEADER);
  if (end < 0) return 0;
  const length = end + END_OF_HEADER.length + Number(fieldOf(input, LENGTH));
  return input.length < length ? 0 : length;
}

answerParent({
  listen: () => listen(createServer(serve)),
  reset: () => {
    arrivals = new Map();
    count = 0;
  },
  count: () => count,
  report: () => ({ count, deliveries: arrivals.size, perSecond: paceOf(arrivals) }),
  arrivals: () => [...arrivals.values()],
});
