// Composing alone: ours, and nodemailer's MailComposer with its random parts fixed, so that both are deterministic.
import { composeMessage } from '@posthorn/rendering';
import MailComposer from 'nodemailer/lib/mail-composer';
import { answerParent } from './bench-process.mjs';
import { sampleEmail } from './sample-email.mjs';

const DATE = new Date('2026-03-04T05:06:07Z');
const MAX_AT_ONCE = 64;

const idOf = (number) => `trs_${String(number).padStart(26, '0')}`;

function ours({ count }) {
  for (let number = 0; number < count; number += 1) {
    const { to, ...email } = sampleEmail('recipient@example.net');
    composeMessage({
      ...email,
      id: idOf(number),
      messageId: `${number}@example.com`,
      date: DATE,
      from: { name: 'Example Shop', address: 'orders@example.com' },
      to: { address: to },
      replyTo: [],
    });
  }
}

function composeByMailer(number) {
  const mail = new MailComposer({
    ...sampleEmail('recipient@example.net'),
    messageId: `<${number}@example.com>`,
    date: DATE,
    baseBoundary: idOf(number),
    newline: '\r\n',
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return new Promise((resolve, reject) => {
    mail.compile().build((error, message) => (error ? reject(error) : resolve(message)));
  });
}

async function mailer({ count }) {
  for (let number = 0; number < count; number += MAX_AT_ONCE) {
    const group = Math.min(MAX_AT_ONCE, count - number);
    await Promise.all(Array.from({ length: group }, (_, index) => composeByMailer(number + index)));
  }
}

async function time(compose, question) {
  const begun = performance.now();
  await compose(question);
  return performance.now() - begun;
}

answerParent({
  ours: (question) => time(ours, question),
  mailer: (question) => time(mailer, question),
});
