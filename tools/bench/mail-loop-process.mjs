// The baseline for sending: nodemailer in a loop, and nothing else.
import { createTransport } from 'nodemailer';
import { answerParent } from './bench-process.mjs';
import { sampleEmail } from './sample-email.mjs';

/** More than one, so that no connection waits for the next email. */
const PENDING_PER_CONNECTION = 2;

async function send({ port, count, connections }) {
  const transport = createTransport({ host: '127.0.0.1', port, pool: true, maxConnections: connections });
  let next = 0;
  const work = async () => {
    while (next < count) {
      next += 1;
      await transport.sendMail(sampleEmail(`loop-${next}@example.net`));
    }
  };
  await Promise.all(Array.from({ length: connections * PENDING_PER_CONNECTION }, work));
  transport.close();
}

answerParent({ send });
