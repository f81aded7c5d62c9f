import { Worker } from 'node:worker_threads';

/** Connects, sends a request and then posts the whole answer, or what went wrong. */
const CLIENT = `
const { connect } = require('node:net');
const { parentPort, workerData: { port, request, sent } } = require('node:worker_threads');
const tell = (what) => {
  Atomics.store(sent, 0, 1);
  Atomics.notify(sent, 0);
  if (what !== undefined) parentPort.postMessage(what);
};
let answer = '';
connect(port, '127.0.0.1')
  .on('connect', function () { this.write(request, () => tell()); })
  .on('data', (data) => (answer += data))
  .on('error', (error) => tell(error.code))
  .on('end', () => tell(answer));
`;

/**
 * Stops the event loop of this thread until a client has connected and sent a request, so that both still wait in the kernel.
 *
 * @returns the whole answer that the client gets, or the code of its error
 */
export function connectMeanwhile(port: number, request: string): Promise<string> {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENT, { eval: true, workerData: { port, request, sent } });
  const told = new Promise<string>((resolve, reject) =>
    client.once('message', resolve).once('error', reject),
  );
  Atomics.wait(sent, 0, 0);
  return told;
}
