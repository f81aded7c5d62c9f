import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AcceptedEmail,
  type Answer,
  type Api,
  emailIn,
  isReplay,
  type RequestOptions,
} from '../../e2e/api.ts';
import { newRecipient, validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import type { Client } from './client.ts';
import type { WantedEmail } from './history.ts';
import type { Random } from './random.ts';

/** Whoever sends emails in an account. */
type Sender = Pick<Client, 'at' | 'history'>;

interface FailedItem {
  readonly index: number;
  readonly error: { readonly statusCode: number };
}

interface BatchOutcome {
  readonly successful: readonly AcceptedEmail[];
  readonly failed: readonly FailedItem[];
}

/** Sends an email, with or without an idempotency key, now or later, and may move and cancel it. */
export async function sendOne(client: Client): Promise<void> {
  const { random, history, workspaceId } = client;
  const isKeyed = random.chance(0.7);
  const isScheduled = random.chance(0.3);
  const isOfNewContact = random.chance(0.3);
  const to = newRecipient();
  const attachment = random.chance(0.2) ? attachmentFor(to, random) : undefined;
  const email = {
    ...validEmail(),
    to,
    ...(isScheduled ? { sendAt: fromNow(random.between(500, 8_000)) } : {}),
    ...(attachment === undefined ? {} : { attachments: [{ filename: 'note.txt', content: attachment }] }),
    ...(isOfNewContact ? { contactProperties: { n: 1 } } : {}),
    ...(isKeyed ? { idempotencyKey: randomUUID() } : {}),
  };
  const wanted = history.want(workspaceId, to, { isOfNewContact });
  if (attachment !== undefined) wanted.attachment = attachment;
  if (email.sendAt !== undefined) wanted.sendAt = email.sendAt;
  const send = (api: Api): Promise<Answer> => api.post('/v1/emails', email);
  const answer = isKeyed
    ? await client.at.insist(impatiently(client, send), random.between(0, 1))
    : await client.at.caller.once(send, random.between(0, 1));
  if (answer === undefined) return;
  note(client, wanted, answer, isKeyed);
  if (wanted.accepted === undefined) return;
  if (isKeyed && random.chance(0.3)) await repeat(client, send, answer);
  if (isScheduled) await changeScheduled(client, wanted, email);
}

/** @returns up to 80 kB that are only for this recipient, in base64 */
function attachmentFor(to: string, random: Random): string {
  return Buffer.from(`${to}\n`.repeat(random.between(1, 2_000))).toString('base64');
}

/** Sends an email once, however often it has to ask. */
export async function sendKeyed(
  client: Sender,
  wanted: WantedEmail,
  email: Readonly<Record<string, unknown>>,
  options: RequestOptions = {},
): Promise<void> {
  const answer = await client.at.post('/v1/emails', { ...email, idempotencyKey: randomUUID() }, options);
  note(client, wanted, answer, true);
}

/** A caller that sometimes gives up too early, and asks again while the gateway still works on the first request. */
function impatiently({ random }: Client, ask: (api: Api) => Promise<Answer>): typeof ask {
  if (!random.chance(0.3)) return ask;
  return (api) => {
    const patience = sleep(random.between(20, 2_000), undefined, { ref: false });
    return Promise.race([ask(api), patience.then(() => Promise.reject(new Error('gives up')))]);
  };
}

/** Only over its limit is an email refused; one that was asked for twice may have been accepted the first time. */
function note(client: Sender, wanted: WantedEmail, answer: Answer, isRepeated: boolean): void {
  if (answer.status === 200) accept(wanted, emailIn(answer));
  else if (client.at.limit === null || answer.status !== 403) client.history.expects(answer, 200);
  else if (!isRepeated) wanted.fate = 'refused';
}

function accept(wanted: WantedEmail, { id, messageId }: AcceptedEmail): void {
  wanted.fate = 'accepted';
  wanted.accepted = { id, messageId };
}

async function repeat(client: Client, send: (api: Api) => Promise<Answer>, first: Answer): Promise<void> {
  const again = await client.at.insist(send, client.random.between(0, 1));
  if (again.text !== first.text || !isReplay(again))
    client.history.wrong.push(`${first.text} is replayed as ${again.status}: ${again.text}`);
}

/** Sleeps until shortly before or after a time. */
async function sleepAbout(time: string, random: Random): Promise<void> {
  await sleep(Math.max(0, Date.parse(time) - Date.now() + random.between(-500, 500)));
}

/** Moves and cancels it, or not; at once, or when it is due. */
async function changeScheduled(
  client: Client,
  wanted: WantedEmail,
  { sendAt: dueAt }: { readonly sendAt?: string },
): Promise<void> {
  const { random } = client;
  const path = `/v1/emails/${wanted.accepted!.id}`;
  if (random.chance(0.4)) await sleepAbout(dueAt!, random);
  if (random.chance(0.3)) {
    const sendAt = fromNow(random.between(-1_000, 8_000));
    client.expects(await client.at.post(path, { sendAt }), 200, 409);
    if (random.chance(0.5)) await sleepAbout(sendAt, random);
  }
  if (!random.chance(0.4)) return;
  const answer = await client.at.post(`${path}/cancel`, {});
  // It was cancelled by a request whose answer was lost.
  const wasCancelled = answer.status === 409 && answer.text.includes('CANCELLED');
  if (client.expects(answer, 200, 409)) wanted.isCancelled = answer.status === 200 || wasCancelled;
}

/** Sends a batch with one idempotency key, and may repeat it. */
export async function sendBatch(client: Client): Promise<void> {
  const { random, history, workspaceId } = client;
  const emails = Array.from({ length: random.between(2, 12) }, () => ({
    ...validEmail(),
    ...(random.chance(0.2) ? { sendAt: fromNow(random.between(500, 5_000)) } : {}),
  }));
  const wanted = emails.map(({ to }) => history.want(workspaceId, to));
  const headers = { 'Idempotency-Key': randomUUID() };
  const send = (api: Api): Promise<Answer> => api.post('/v1/emails/batch', { emails }, { headers });
  const answer = await client.at.insist(impatiently(client, send), random.between(0, 1));
  if (answer.status === 403 && client.at.limit !== null) return;
  if (!client.expects(answer, 200)) return;
  const { successful, failed } = answer.body['emails'] as BatchOutcome;
  for (const email of successful) accept(history.emails.get(email.to)!, email);
  for (const { index } of failed) wanted[index]!.fate = 'refused';
  const isForLimit = failed.every(({ error }) => error.statusCode === 403 && client.at.limit !== null);
  if (!isForLimit || successful.length + failed.length !== emails.length) history.wrong.push(answer.text);
  if (random.chance(0.3)) await repeat(client, send, answer);
}
