import { Worker } from 'node:worker_threads';

/** Opens connections, sends a request on each, and then posts each whole answer, or what went wrong. */
const CLIENT = `
const { connect } = require('node:net');
const { parentPort, workerData: { port, request, connections, sent } } = require('node:worker_threads');
// An error also ends the wait.
const noteSent = () => {
  Atomics.add(sent, 0, 1);
  Atomics.notify(sent, 0);
};
for (let n = 0; n < connections; n += 1) {
  let answer = '';
  const done = (what) => {
    noteSent();
    parentPort.postMessage(what);
  };
  connect(port, '127.0.0.1')
    .on('connect', function () { this.write(request, noteSent); })
    .on('data', (data) => (answer += data))
    .on('error', (error) => done(error.code))
    .on('end', () => done(answer));
}
`;

/**
 * Stops the event loop of this thread until clients have connected and sent a request each, so that all of them still wait in the kernel.
 *
 * @returns the whole answer that each client gets, or the code of its error
 */
export function connectMeanwhile(port: number, request: string, connections: number): Promise<string[]> {
  const sent = new Int32Array(new SharedArrayBuffer(4));
  const client = new Worker(CLIENT, { eval: true, workerData: { port, request, connections, sent } });
  const answers = new Promise<string[]>((resolve, reject) => {
    const received: string[] = [];
    client.on('message', (answer: string) => {
      if (received.push(answer) === connections) resolve(received);
    });
    client.once('error', reject);
  });
  for (let count = 0; count < connections; count = Atomics.load(sent, 0)) Atomics.wait(sent, 0, count);
  return answers;
}
