// An SMTP inbox for the local stack: accepts every mail, and shows it in a web page.
import { parseArgs } from 'node:util';
import { Mailbox } from './mailbox.mjs';
import { createReceiver } from './receive.mjs';
import { ReturnedMail } from './returned-mail.mjs';
import { createShow } from './show.mjs';

const HELP = `node tools/inbox/main.mjs --smtp-port <port> --http-port <port> --directory <folder> [--returned-to <port>]
Takes every mail that is sent to 127.0.0.1:<smtp-port>, keeps the newest 10,000 in the folder, and shows them at
http://127.0.0.1:<http-port>/. Reports about mails to recipients named bounced-later, complained or delivered are
returned to their envelope sender at 127.0.0.1:<port>.`;

/** @param {string | undefined} value @param {string} name */
function port(value, name) {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number > 65_535)
    throw new Error(`--${name} must be a port; see --help`);
  return number;
}

/** Resolves once the server listens; a port that is taken is an error. */
function listen(server, number) {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(number, '127.0.0.1', () => {
      server.off('error', reject);
      resolve(undefined);
    });
  });
}

async function main(values) {
  if (values.directory === undefined) throw new Error('--directory is missing; see --help');
  const mailbox = new Mailbox(values.directory);
  const { 'returned-to': returnedTo } = values;
  const returnedMail =
    returnedTo === undefined ? undefined : new ReturnedMail(port(returnedTo, 'returned-to'));
  const receiver = createReceiver(mailbox, returnedMail);
  const show = createShow(mailbox);
  await listen(receiver, port(values['smtp-port'], 'smtp-port'));
  await listen(show, port(values['http-port'], 'http-port'));
  // A client that disconnects in the middle of a mail must not end this process.
  receiver.on('error', (error) => process.stderr.write(`${error.message}\n`));
  for (const signal of ['SIGTERM', 'SIGINT']) {
    process.once(signal, () => {
      receiver.close(() => process.exit(0));
      show.close();
      show.closeAllConnections();
      setTimeout(() => process.exit(0), 1_000);
    });
  }
  process.stdout.write(`The inbox is listening, with ${mailbox.size} mails in it.\n`);
}

const { values } = parseArgs({
  options: {
    'smtp-port': { type: 'string' },
    'http-port': { type: 'string' },
    'directory': { type: 'string' },
    'returned-to': { type: 'string' },
    'help': { type: 'boolean', short: 'h' },
  },
});
if (values.help) process.stdout.write(`${HELP}\n`);
else await main(values);
