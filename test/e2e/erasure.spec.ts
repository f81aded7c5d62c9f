import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type EndedProgram, PrivateRedis, runOperatorCommand } from '@posthorn/testing';
import { emailIn, isReplay } from './api.ts';
import { mentionsOf, textColumns } from './mentions.ts';
import { newRecipient, validEmail, Stack, until, takesAll } from './stack.ts';
import { fromNow } from './times.ts';

/** A canary that occurs nowhere else in the run. */
const CANARY = 'canary-q7zx';
const PERSON = `${CANARY}@receiver.example`;
const SHOUTED = PERSON.toUpperCase().replace('RECEIVER.EXAMPLE', 'receiver.example');
const DAY_MS = 86_400_000;

/** The call that is repeated after the erasure. */
const FIRST = {
  to: `${CANARY} <${PERSON}>`,
  subject: `Dear ${CANARY}`,
  idempotencyKey: 'one',
  contactProperties: { name: CANARY },
};

interface Receipt {
  readonly recipient: string;
  readonly deleted: Record<string, number>;
  readonly redacted: Record<string, number>;
  readonly left: Record<string, number>;
  readonly remembered: number;
  readonly cancelled: number;
  readonly inProgress: number;
}

let redis: PrivateRedis;
let listener: Socket;
/** Every command that Redis has received. */
let heard = '';
/** The recipient of an email that the relay answers only when the test says so. */
const LEAVING = `leaving-${CANARY}@receiver.example`;
let relayHeard = false;
let letRelayAnswer: () => void;
const relayMayAnswer = new Promise<void>((resolve) => (letRelayAnswer = resolve));
let scheduledId: string;
let namingId: string;

afterAll(() => void listener.destroy());
const stack = Stack.forTests(async () => {
  redis = await PrivateRedis.start();
  const { hostname, port } = new URL(redis.url);
  listener = connect(Number(port), hostname).on('data', (bytes) => (heard += bytes.toString('latin1')));
  listener.write('MONITOR\r\n');
  return {
    redisUrl: redis.url,
    receives: takesAll,
    sink: {
      script: (stage, { to }) => {
        if (stage !== 'rcpt') return undefined;
        if (to.includes(LEAVING)) {
          relayHeard = true;
          return { reply: '550 5.1.1 unknown', after: relayMayAnswer };
        }
        return to.some((address) => address.startsWith('other'))
          ? { reply: `550 5.1.1 unknown, as is ${PERSON}` }
          : undefined;
      },
    },
    env: { LOG_LEVEL: 'trace' },
  };
});
beforeAll(() => leaveTraces());
afterAll(() => redis.close());

const post = async (path: string, body: object): Promise<Record<string, unknown>> => {
  const answer = await stack.api().post(path, body, { key: stack.tenant.keys.editor });
  if (answer.status !== 200) throw new Error(`${path}: ${answer.text}`);
  return answer.body;
};

/** Stores the person wherever a person can be stored. */
async function leaveTraces(): Promise<void> {
  const events = ['CONTACT_CREATED', 'EMAIL_SENT', 'EMAIL_BOUNCED', 'EMAIL_FAILED'];
  await post('/v1/webhooks', { url: stack.receiver.url('/hook'), events });
  const paused = (await post('/v1/webhooks', { url: stack.receiver.url('/paused'), events }))['webhook'] as {
    id: string;
  };
  await post(`/v1/webhooks/${paused.id}`, { status: 'PAUSED' });
  await stack.send(FIRST);
  await stack.send({
    to: SHOUTED,
    replyTo: PERSON,
    groupBy: `of-${CANARY}`,
    idempotencyKey: `welcome-${PERSON}`,
  });
  const inUrl = encodeURIComponent(PERSON);
  const naming = {
    replyTo: `Ada <${SHOUTED}>`,
    html: `<a href="mailto:${PERSON}?a=%20">${SHOUTED}</a>`,
    text: `Ask ${PERSON}.`,
  };
  namingId = emailIn(await stack.send(naming)).id;
  await stack.send({ contactProperties: { friend: PERSON }, subject: `From ${PERSON}` });
  await stack.send({ to: `other-${newRecipient()}` });
  scheduledId = emailIn(await stack.send({ to: PERSON, sendAt: fromNow(DAY_MS) })).id;
  await post('/v1/contacts', {
    email: newRecipient(),
    properties: { note: `Friend of\n${PERSON}\n+49`, profile: `https://x.example/?to=%3C${inUrl}%3E` },
  });
  await stack.send({
    html: `<a href="https://x.example/?share=mailto%3A${inUrl}">x</a>`,
    text: `x\t${SHOUTED}\t`,
  });
  await post('/v1/emails/batch', { emails: [{ ...validEmail(), to: PERSON }, validEmail()] });
  await post('/v1/invitations', { email: PERSON, name: CANARY, role: 'API_USER' });
  await stack.api().get(`/v1/contacts?email=${encodeURIComponent(PERSON)}`);
  await stack.api().get(`/v1/emails?to=${encodeURIComponent(PERSON)}`);
  await until(() => stack.mailsTo(PERSON).length >= 3, 'the person was written to');
  await until(
    async () =>
      (await stack.count(`SELECT count(*)::int FROM outbox WHERE queue = 'email' AND state <> 'waiting'`)) ===
      0,
    'nothing is due but what is scheduled',
  );
  await until(() => stack.receiver.posts.length >= 5, 'the webhook was told');
  await until(
    async () => (await stack.count('SELECT count(*)::int FROM webhook_attempts')) >= 5,
    'its answers are recorded',
  );
  await stack.database.pool.query(`UPDATE webhook_attempts SET body = $1`, [`You said ${PERSON}`]);
  await post('/v1/suppressions', { email: SHOUTED, reason: 'COMPLAINT' });
}

/** Where the canary is in the database. */
const found = (): Promise<string[]> => mentionsOf(stack, CANARY);

const erase = (...flags: string[]): Promise<EndedProgram> =>
  runOperatorCommand(stack.databaseUrl, 'erase-recipient', ...flags);

describe('Erasing a person', () => {
  let receipt: Receipt;

  it('starts with the person in many tables', async () => {
    expect((await textColumns(stack)).length).toBeGreaterThan(70);
    const tables = new Set((await found()).map((place) => place.split('.')[0]));
    expect([...tables]).toEqual(
      expect.arrayContaining([
        'emails',
        'email_contents',
        'email_events',
        'events',
        'webhook_attempts',
        'contacts',
        'invitations',
        'suppressions',
        'idempotency_keys',
        'audit_log',
      ]),
    );
  });

  it('removes the person from all tables, and prints a receipt that does not name them', async () => {
    const { code, stdout, stderr } = await erase(SHOUTED, '--json');
    // Its progress, if it took seconds.
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^(?:\d+ rows searched …\n)*$/)]);
    expect(stdout.toLowerCase()).not.toContain(CANARY);
    receipt = JSON.parse(stdout) as Receipt;
    expect(await found()).toEqual([]);
    expect(receipt).toMatchObject({
      recipient: expect.stringMatching(/^[0-9a-f]{64}$/),
      left: {},
      inProgress: 0,
      remembered: 1,
    });
    expect(receipt.deleted).toMatchObject({
      contacts: 1,
      invitations: 1,
      suppressions: 1,
      idempotency_keys: 1,
    });
    expect(receipt.deleted['emails']).toBeGreaterThanOrEqual(4);
    expect(receipt.cancelled).toBeGreaterThan(0);
    expect(receipt.redacted).toMatchObject({
      audit_log: expect.any(Number),
      email_events: 1,
      email_contents: expect.any(Number),
    });
  });

  it('has deleted emails that were scheduled for them: these are 404, and nothing is due', async () => {
    expect((await stack.api().get(`/v1/emails/${scheduledId}`)).status).toBe(404);
    expect(await stack.outboxRow(scheduledId)).toBeUndefined();
  });

  it('explains why the message of an email to somebody else, with them in Reply-To, can no longer be shown', async () => {
    expect((await stack.api().get(`/v1/emails/${namingId}/preview`)).body).toMatchObject({
      statusCode: 409,
      message: expect.stringContaining('named a person whose address was erased'),
    });
    expect((await stack.show(namingId)).status).toBe('SENT');
  });

  it('S11: still answers the repeated call, and sends nothing', async () => {
    const before = await stack.count('SELECT count(*)::int FROM emails');
    const again = await stack.send(FIRST);
    expect(isReplay(again)).toBe(true);
    expect(emailIn(again)).toMatchObject({ to: '[erased]', subject: '[erased]', status: 'SENT' });
    expect(await stack.count('SELECT count(*)::int FROM emails')).toBe(before);
  });

  it('S19: still sends nothing to them, until they are removed from the suppression list', async () => {
    const { id } = emailIn(await stack.send({ to: SHOUTED }));
    await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is withheld');
    expect((await stack.show(id)).timeline.at(-1)).toMatchObject({ reason: 'complaint' });
    const { suppression } = (await post('/v1/suppressions', { email: PERSON })) as {
      suppression: { id: string };
    };
    await stack.api().request('DELETE', `/v1/suppressions/${suppression.id}`, undefined);
    const mailsBefore = stack.mailsTo(PERSON).length;
    await stack.send({ to: PERSON });
    await until(() => stack.mailsTo(PERSON).length > mailsBefore, 'it is sent again');
  });

  it('S20: still treats them as unsubscribed when they are added again, until they subscribe', async () => {
    const asked = { to: PERSON, settings: { unsubscribe: true } };
    const contact = (await post('/v1/contacts', { email: PERSON }))['contact'] as { id: string };
    await post(`/v1/contacts/${contact.id}/unsubscribe`, {});
    expect((await erase(PERSON)).stdout).toMatch(/^Erased at .*in every workspace/);
    const back = (await post('/v1/contacts', { email: PERSON }))['contact'] as { id: string };
    const { id } = emailIn(await stack.send(asked));
    await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is withheld');
    await post(`/v1/contacts/${back.id}/resubscribe`, {});
    const mailsBefore = stack.mailsTo(PERSON).length;
    await stack.send(asked);
    await until(() => stack.mailsTo(PERSON).length > mailsBefore, 'it is sent again');
  });

  it('in one workspace keeps the data of others, and with --suppress nothing is sent to them there', async () => {
    const other = await stack.createTenant('Other');
    await stack.send({ to: PERSON }, { key: other.keys.apiUser });
    const { code } = await erase(PERSON, '--workspace', stack.tenant.workspaceId, '--suppress');
    expect(code).toBe(0);
    const mine = `SELECT count(*)::int FROM emails e JOIN workspaces w ON w.id = e.workspace_id WHERE lower(to_address) = $1 AND w.name`;
    expect(await stack.count(`${mine} = 'Other'`, [PERSON])).toBe(1);
    expect(await stack.count(`${mine} = 'End to end'`, [PERSON])).toBe(0);
    const { id } = emailIn(await stack.send({ to: PERSON }));
    await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is withheld');
  });

  it('S19: also erases the report about an email that bounces during the erasure, and keeps the suppression', async () => {
    await post('/v1/contacts', { email: LEAVING });
    await stack.send({ to: LEAVING });
    await until(() => relayHeard, 'it is in progress');
    const contacts = `SELECT count(*)::int FROM contacts WHERE lower(email) = $1`;
    const erasing = erase(LEAVING, '--json');
    await until(async () => (await stack.count(contacts, [LEAVING])) === 0, 'the contact is forgotten');
    letRelayAnswer();
    const { code, stdout } = await erasing;
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      inProgress: 0,
      left: {},
      remembered: 1,
      deleted: { contacts: 1, emails: 1, suppressions: 1 },
    });
    expect((await found()).filter((place) => place.startsWith('suppressions'))).toEqual([]);
    const { id } = emailIn(await stack.send({ to: LEAVING }));
    await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is withheld');
    expect((await stack.show(id)).timeline.at(-1)).toMatchObject({ reason: 'hard_bounce' });
  });

  it('reports what is wrong with its arguments', async () => {
    expect(await erase()).toMatchObject({ code: 2, stderr: expect.stringContaining('needs ADDRESS') });
    expect(await erase('nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('ADDRESS has no `@`'),
    });
    expect(await erase(PERSON, 'x@example.com')).toMatchObject({ code: 2 });
    expect(await erase(PERSON, '--workspace', 'wrk_1')).toMatchObject({ code: 2 });
  });

  it('need not include Redis or the logs: the person was never in them', () => {
    expect(heard.length).toBeGreaterThan(10_000);
    expect(heard.toLowerCase()).not.toContain(CANARY);
    expect(stack.logs.length).toBeGreaterThan(10_000);
    expect(stack.logs.split('\n').filter((line) => line.toLowerCase().includes(CANARY))).toEqual([]);
  });
});
