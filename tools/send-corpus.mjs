// npm run send-corpus: eleven real emails through the running stack, each awaited in the inbox.
import { randomBytes } from 'node:crypto';
import { filledCorpus } from './corpus.mjs';
import { waitUntil } from './stack/processes.mjs';
import { elapsed, say } from './stack/progress.mjs';
import { runScript } from './stack/script.mjs';
import { readJson, STACK_FILE } from './stack/state.mjs';

const HELP = `npm run send-corpus
Posts the eleven emails of test/corpus/email-templates, filled with made-up values, to the stack that npm run up started,
and waits until each is in the inbox.`;

/** How long the last email may be on its way. */
const ARRIVE_WITHIN_MS = 60_000;

/** @returns {Promise<{ id: string, status: string }>} */
async function post(stack, email) {
  const answer = await fetch(`${stack.apiUrl}/v1/emails`, {
    method: 'POST',
    headers: { 'authorization': `Bearer ${stack.keys.apiUser}`, 'content-type': 'application/json' },
    body: JSON.stringify(email),
  });
  const body = await answer.text();
  if (!answer.ok) throw new Error(`${email.subject}: ${answer.status} ${body}`);
  return JSON.parse(body).email;
}

/** How many mails for an address are in the inbox. */
async function arrivals(stack, to) {
  const found = await fetch(`${stack.inbox.webUrl}/api/messages?to=${encodeURIComponent(to)}`);
  const { matching } = /** @type {{ matching: number }} */ (await found.json());
  return matching;
}

/** Sends one and waits for it. @returns {Promise<boolean>} whether it arrived exactly once */
async function sendOne(stack, run, { name, subject, html, text }) {
  const to = `${name}.${run}@example.net`;
  const { id, status } = await post(stack, { from: 'Posthorn <hello@example.com>', to, subject, html, text });
  const isThere = async () => (await arrivals(stack, to)) > 0;
  try {
    await waitUntil(isThere, { withinMs: ARRIVE_WITHIN_MS, what: 'Arriving' });
  } catch (error) {
    say(`  ✗ ${id}  ${status.padEnd(10)} ${name}: ${error.message}`);
    return false;
  }
  const count = await arrivals(stack, to);
  say(
    `  ${count === 1 ? '✓' : '✗'} ${id}  ${status.padEnd(10)} ${name}${count === 1 ? '' : `: arrived ${count} times`}`,
  );
  return count === 1;
}

async function sendCorpus() {
  const stack = readJson(STACK_FILE);
  if (stack === undefined) throw new Error('Posthorn is not up: npm run up');
  // A run finds its own mails, whatever was sent before.
  const run = randomBytes(4).toString('hex');
  const corpus = filledCorpus();
  const arrived = await Promise.all(corpus.map((mail) => sendOne(stack, run, mail)));
  const good = arrived.filter(Boolean).length;
  say(`${good} of ${corpus.length} emails arrived once, in ${elapsed()}. See them at ${stack.inbox.webUrl}`);
  process.exitCode = good === corpus.length ? 0 : 1;
}

await runScript({ help: HELP, options: {}, work: sendCorpus });
