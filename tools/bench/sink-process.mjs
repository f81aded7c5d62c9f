// The relay of all measurements: accepts every email, stores none, and records when each recipient's arrived.
import { createServer } from 'node:net';
import { answerParent, listen } from './bench-process.mjs';
import { nowMs } from './clock.mjs';
import { paceOf } from './numbers.mjs';

const SIGNATURE = 'DKIM-Signature: ';
/** The DKIM signatures are in this first part of an email. */
const HEAD_BYTES = 4_096;
const END_OF_MAIL = '\r\n.\r\n';
const EHLO = '250-sink\r\n250-PIPELINING\r\n250-8BITMIME\r\n250 SMTPUTF8\r\n';
const REPLIES = { EHLO, HELO: '250 sink\r\n', DATA: '354 go on\r\n', QUIT: '221 bye\r\n' };

/** @type {Map<string, { at: number, wallClock: number }>} */
const arrivals = new Map();
/** @type {Map<string, (arrival: object) => void>} */
const awaited = new Map();
let count = 0;
/** The number of signatures in all emails. */
let signed = 0;

function reset() {
  arrivals.clear();
  awaited.clear();
  count = 0;
  signed = 0;
}

/** @param {string} to @param {Buffer} head */
function record(to, head) {
  const arrival = { at: nowMs(), wallClock: Date.now() };
  count += 1;
  signed += head.toString('latin1', 0, HEAD_BYTES).split(SIGNATURE).length - 1;
  if (arrivals.has(to)) return;
  arrivals.set(to, arrival);
  awaited.get(to)?.(arrival);
}

function arrivalOf({ to }) {
  return arrivals.get(to) ?? new Promise((resolve) => awaited.set(to, resolve));
}

/** @param {import('node:net').Socket} socket */
function serve(socket) {
  let [carry, to, isMail] = [Buffer.alloc(0), '', false];
  /** The first part of the email being received, once that is longer than HEAD_BYTES. @type {Buffer | undefined} */
  let head;
  const replyTo = (line) => {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'RCPT') to = line.slice(line.indexOf('<') + 1, line.indexOf('>'));
    isMail = verb === 'DATA';
    return REPLIES[verb] ?? '250 ok\r\n';
  };
  /** Processes one command, or one email, at the beginning of `bytes`; undefined while it is incomplete. */
  const step = (bytes) => {
    const end = bytes.indexOf(isMail ? END_OF_MAIL : '\r\n');
    if (end < 0) return undefined;
    if (!isMail) return { reply: replyTo(bytes.toString('latin1', 0, end)), taken: end + 2 };
    isMail = false;
    record(to, head ?? bytes.subarray(0, end));
    head = undefined;
    return { reply: '250 2.0.0 taken\r\n', taken: end + END_OF_MAIL.length };
  };
  socket.setNoDelay(true).on('error', () => socket.destroy());
  socket.write('220 sink\r\n');
  socket.on('data', (chunk) => {
    let bytes = carry.length > 0 ? Buffer.concat([carry, chunk]) : chunk;
    let replies = '';
    for (let done = step(bytes); done !== undefined; done = step(bytes)) {
      replies += done.reply;
      bytes = bytes.subarray(done.taken);
    }
    // Of a long incomplete email, only the last bytes are kept: they may be the beginning of END_OF_MAIL.
    const isLong = isMail && bytes.length > HEAD_BYTES;
    if (isLong) head ??= bytes.subarray(0, HEAD_BYTES);
    carry = isLong ? bytes.subarray(-END_OF_MAIL.length + 1) : bytes;
    if (replies !== '') socket.write(replies);
    if (replies.endsWith(REPLIES.QUIT)) socket.end();
  });
}

answerParent({
  listen: () => listen(createServer(serve)),
  reset,
  count: () => count,
  report: () => ({ count, recipients: arrivals.size, signed, perSecond: paceOf(arrivals) }),
  arrivalOf,
});
