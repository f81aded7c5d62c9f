// The yardstick of sending: nodemailer in a loop, with nothing before and nothing after it.
import { createTransport } from 'nodemailer';
import { answerParent } from './helper.mjs';
import { sentMail } from './sent-mail.mjs';

/** Enough in hand that no connection waits for the next mail. */
const IN_HAND_PER_CONNECTION = 2;

async function send({ port, count, connections }) {
  const transport = createTransport({ host: '127.0.0.1', port, pool: true, maxConnections: connections });
  let next = 0;
  const work = async () => {
    while (next < count) {
      next += 1;
      await transport.sendMail(sentMail(`loop-${next}@example.net`));
    }
  };
  await Promise.all(Array.from({ length: connections * IN_HAND_PER_CONNECTION }, work));
  transport.close();
}

answerParent({ send });
