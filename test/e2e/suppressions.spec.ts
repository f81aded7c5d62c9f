import { beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { uuidOf, type EmailId } from '@posthorn/kernel';
import type { SinkScript } from '@posthorn/testing';
import { type AcceptedEmail, type Answer, type Api, emailIn, type ShownEmail } from './api.ts';
import { newRecipient, validEmail, Stack, type Tenant, until } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

interface ShownSuppression {
  readonly id: string;
  readonly email: string;
  readonly reason: string;
  readonly emailId: string | null;
  readonly createdBy: { readonly kind: string; readonly name: string };
  readonly createdAt: string;
}

const PATH = '/v1/suppressions';
/** The relay has an email to `slow`, and takes it when the test lets it. */
let hasSlow: PromiseWithResolvers<void>;
let takesSlow: PromiseWithResolvers<void>;

/** A relay whose reply depends on the local part of the recipient. */
const relay: SinkScript = (stage, { to }) => {
  const recipient = to.at(-1) ?? '';
  if (stage === 'content' && recipient.startsWith('slow')) {
    hasSlow.resolve();
    return { after: takesSlow.promise };
  }
  if (stage !== 'rcpt') return undefined;
  if (/^nobody/i.test(recipient)) return { reply: '550 5.1.1 No such user here' };
  if (recipient.startsWith('full')) return { reply: '552 5.2.2 Mailbox full' };
  return undefined;
};

let tenant: Tenant;
let api: Api;
// One connection, so that a slow email delays those that were claimed with it.
const stack = Stack.forTests({ sink: { script: relay }, env: { SMTP_CONNECTIONS: '1' } });
beforeEach(async () => {
  tenant = await stack.createTenant('Suppressions');
  api = apiOf(tenant);
});

const apiOf = ({ keys }: Tenant): Api => stack.apiAs(keys.apiUser);

async function send(to: string, change: object = {}, from = api): Promise<AcceptedEmail> {
  return emailIn(await from.post('/v1/emails', { ...validEmail(), to, ...change }));
}

/** The email once it is finished. */
async function finished({ id }: AcceptedEmail, from = api): Promise<ShownEmail> {
  await until(async () => (await stack.outboxRow(id)) === undefined, `${id} is finished`);
  return emailIn<ShownEmail>(await from.get(`/v1/emails/${id}`));
}

function suppressionIn(answer: Answer): ShownSuppression {
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"suppression"')]);
  return answer.body['suppression'] as ShownSuppression;
}

const add = async (email: string, change: object = {}): Promise<ShownSuppression> =>
  suppressionIn(await api.post(PATH, { email, ...change }));

async function list(query = '', from = api): Promise<ShownSuppression[]> {
  const answer = await from.get(PATH + query);
  expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
  return (answer.body['suppressions'] as { items: ShownSuppression[] }).items;
}

async function audited(): Promise<{ action: string; actor: { kind: string }; detail: object }[]> {
  const answer = await stack.apiAs(tenant.keys.editor).get('/v1/audit-log');
  const { items } = answer.body['auditLog'] as {
    items: { action: string; actor: { kind: string }; detail: object }[];
  };
  return items.filter(({ action }) => action.startsWith('suppression.'));
}

const eventsOf = ({ timeline }: ShownEmail): string[] => timeline.map(({ event }) => event);

describe('S19: a hard bounce', () => {
  it('suppresses the recipient, with the email that caused it, and the next email is not sent', async () => {
    const to = `nobody-${newRecipient()}`;
    const bounced = await finished(await send(to));
    expect(bounced.status).toBe('BOUNCED');
    const [entry, ...others] = await list(`?email=${to.toUpperCase()}`);
    expect([entry, others]).toEqual([
      {
        id: expect.stringMatching(/^sup_[0-9a-z]{26}$/),
        email: to,
        reason: 'HARD_BOUNCE',
        emailId: bounced.id,
        createdBy: { kind: 'system', name: 'posthorn' },
        createdAt: expect.any(String),
      },
      [],
    ]);
    const next = await send(to.toUpperCase());
    expect(next.status).toBe('SENT');
    const shown = await finished(next);
    expect([shown.status, shown.sentAt, eventsOf(shown)]).toEqual([
      'SUPPRESSED',
      null,
      ['ACCEPTED', 'SUPPRESSED'],
    ]);
    expect(shown.timeline[1]).toMatchObject({ reason: 'hard_bounce' });
    expect(await audited()).toMatchObject([
      {
        action: 'suppression.created',
        actor: { kind: 'system' },
        detail: { reason: 'HARD_BOUNCE', emailId: bounced.id },
      },
    ]);
  });

  it('does not include a full mailbox', async () => {
    const full = await finished(await send(`full-${newRecipient()}`));
    expect(full.status).toBe('BOUNCED');
    expect(await list()).toEqual([]);
  });

  it('of several emails concurrently creates one entry', async () => {
    const to = `nobody-${newRecipient()}`;
    const emails = [to, to.replace('nobody', 'NOBODY'), to].map((one) => ({ ...validEmail(), to: one }));
    const answer = await api.post('/v1/emails/batch', { emails });
    const { successful } = answer.body['emails'] as { successful: AcceptedEmail[] };
    const statuses = (await Promise.all(successful.map((email) => finished(email)))).map(
      ({ status }) => status,
    );
    expect(statuses.filter((status) => !['BOUNCED', 'SUPPRESSED'].includes(status))).toEqual([]);
    expect(await list()).toHaveLength(1);
    expect(await audited()).toHaveLength(1);
  });
});

describe('S19: a suppressed recipient', () => {
  it('is reported to webhooks by EMAIL_FAILED, and the email counts as accepted', async () => {
    const url = 'https://example.com/webhooks';
    await api.post('/v1/webhooks', { url, events: ['EMAIL_FAILED'] });
    const to = newRecipient();
    await add(to);
    const { id } = await finished(await send(to));
    const { rows } = await stack.database.pool.query<{ payload: string }>(
      'SELECT payload FROM events WHERE workspace_id = $1',
      [uuidOf(tenant.workspaceId)],
    );
    expect(rows.map(({ payload }) => JSON.parse(payload) as unknown)).toMatchObject([
      { event: 'EMAIL_FAILED', data: { email: { id, status: 'SUPPRESSED' } } },
    ]);
    const sql = 'SELECT accepted AS count FROM usage WHERE workspace_id = $1';
    expect(await stack.count(sql, [uuidOf(tenant.workspaceId)])).toBe(1);
  });

  it('is the same in any letter case, and in any form of its domain', async () => {
    const local = newRecipient().split('@')[0]!;
    await add(`${local.toUpperCase()}@Bücher.example`);
    const shown = await finished(await send(`${local}@xn--bcher-kva.example`));
    expect(shown.status).toBe('SUPPRESSED');
    expect(await list(`?email=${local}@BÜCHER.example`)).toHaveLength(1);
  });

  it('is suppressed only in this workspace', async () => {
    const to = newRecipient();
    const entry = await add(to);
    const other = apiOf(await stack.createTenant('Another'));
    expect(await list('', other)).toEqual([]);
    expect((await other.get(`${PATH}/${entry.id}`)).status).toBe(404);
    expect((await other.request('DELETE', `${PATH}/${entry.id}`, undefined)).status).toBe(404);
    expect((await finished(await send(to, {}, other), other)).status).toBe('SENT');
    expect((await finished(await send(to))).status).toBe('SUPPRESSED');
  });

  it('gets emails again once it is removed from the list', async () => {
    const to = newRecipient();
    const entry = await add(to, { reason: 'COMPLAINT' });
    expect((await finished(await send(to))).timeline[1]).toMatchObject({ reason: 'complaint' });
    const removed = await api.request('DELETE', `${PATH}/${entry.id}`, undefined);
    expect([removed.status, removed.body]).toEqual([200, { suppression: entry, isDeleted: true }]);
    expect((await api.get(`${PATH}/${entry.id}`)).status).toBe(404);
    expect((await finished(await send(to))).status).toBe('SENT');
    expect((await audited()).map(({ action, actor }) => [action, actor.kind])).toEqual([
      ['suppression.deleted', 'api_key'],
      ['suppression.created', 'api_key'],
    ]);
  });

  it('does not get emails that were accepted before', async () => {
    const to = newRecipient();
    const email = await send(to, { sendAt: fromNow(DAY_MS) });
    await add(to);
    await stack.makeDue(email.id);
    expect((await finished(email)).status).toBe('SUPPRESSED');
    expect(stack.mailsTo(to)).toEqual([]);
  });

  it('does not get emails that were claimed before and wait for a connection', async () => {
    const to = newRecipient();
    [hasSlow, takesSlow] = [Promise.withResolvers(), Promise.withResolvers()];
    const slow = await send(`slow-${newRecipient()}`);
    await hasSlow.promise;
    const waiting = await send(to);
    const sql = `SELECT count(*)::int FROM outbox WHERE subject_id = $1 AND state = 'taken'`;
    await until(async () => (await stack.count(sql, [uuidOf(waiting.id as EmailId)])) === 1, 'it is claimed');
    await add(to);
    // The result of the look-up at the claim is used for a second.
    await sleep(1_500);
    takesSlow.resolve();
    expect((await finished(slow)).status).toBe('SENT');
    expect((await finished(waiting)).status).toBe('SUPPRESSED');
    expect(stack.mailsTo(to)).toEqual([]);
  });
});

describe(PATH, () => {
  it('S19, G10: can be listed, also by reason, and read one by one', async () => {
    const [first, second] = [newRecipient(), newRecipient()];
    const manual = await add(first);
    const reported = await add(second, { reason: 'COMPLAINT' });
    expect(manual).toMatchObject({
      email: first,
      reason: 'MANUAL',
      emailId: null,
      createdBy: { kind: 'api_key' },
    });
    expect(await list()).toEqual([reported, manual]);
    expect(await list('?sort=createdAt.asc&limit=1')).toEqual([manual]);
    expect(await list('?reason=COMPLAINT')).toEqual([reported]);
    expect(await list(`?reason=MANUAL&email=${second}`)).toEqual([]);
    expect(suppressionIn(await api.get(`${PATH}/${manual.id}`))).toEqual(manual);
  });

  it('has one entry for an address that is added many times concurrently', async () => {
    const [local, domain] = newRecipient().split('@');
    const spellings = [local, local!.toUpperCase(), local, local!.toUpperCase()].map(
      (one) => `${one}@${domain}`,
    );
    const answers = await Promise.all(spellings.map((email) => api.post(PATH, { email })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(answers.filter(({ body }) => body['isCreated'] === true)).toHaveLength(1);
    expect(new Set(answers.map((answer) => suppressionIn(answer).id)).size).toBe(1);
    expect(await audited()).toHaveLength(1);
  });

  it('G3: refuses invalid addresses and reasons', async () => {
    const noAddress = await api.post(PATH, { email: 'Ada <ada@example.com>' });
    expect([noAddress.status, noAddress.body['message']]).toEqual([400, expect.stringContaining('`email`')]);
    const noReason = await api.post(PATH, { email: newRecipient(), reason: 'hard_bounce' });
    expect([noReason.status, noReason.body['message']]).toEqual([400, expect.stringContaining('`reason`')]);
    expect(await list()).toEqual([]);
  });
});

describe(`POST ${PATH}/batch: 200`, () => {
  interface Outcome {
    readonly successful: ShownSuppression[];
    readonly failed: {
      index: number;
      email: string | null;
      error: { statusCode: number; message: string };
    }[];
  }

  async function addAll(suppressions: unknown[]): Promise<Outcome> {
    const answer = await api.post(`${PATH}/batch`, { suppressions });
    expect([answer.status, answer.text]).toEqual([200, expect.anything()]);
    return answer.body['suppressions'] as Outcome;
  }

  it('S19: imports the list of another service; nothing is sent to its addresses', async () => {
    const [bounced, complained, other] = [newRecipient(), newRecipient(), newRecipient()];
    const { successful, failed } = await addAll([
      { email: bounced, reason: 'HARD_BOUNCE' },
      { email: complained, reason: 'COMPLAINT' },
      { email: other },
    ]);
    expect(failed).toEqual([]);
    expect(successful.map(({ email, reason, emailId }) => [email, reason, emailId])).toEqual([
      [bounced, 'HARD_BOUNCE', null],
      [complained, 'COMPLAINT', null],
      [other, 'MANUAL', null],
    ]);
    expect(await list('?sort=createdAt.asc')).toEqual(successful);
    const audit = (await audited()).map(({ action, actor, detail }) => ({
      action,
      kind: actor.kind,
      detail,
    }));
    const added = (reason: string) => ({
      action: 'suppression.created',
      kind: 'api_key',
      detail: { reason },
    });
    expect(audit).toHaveLength(3);
    expect(audit).toEqual(expect.arrayContaining(['MANUAL', 'COMPLAINT', 'HARD_BOUNCE'].map(added)));
    expect((await finished(await send(complained.toUpperCase()))).status).toBe('SUPPRESSED');
  });

  it('validates each item separately, answers in the order of the request, and keeps what is there', async () => {
    const present = await add('ada@example.net');
    const { successful, failed } = await addAll([
      { email: 'carl@example.net', reason: 'COMPLAINT' },
      { email: 'ada@' },
      null,
      { email: 'ADA@example.net', reason: 'COMPLAINT' },
      { email: 'bob@example.net', reason: 'UNSUBSCRIBED' },
      { email: 'CARL@Example.net', reason: 'HARD_BOUNCE' },
      { email: 'Ada <ada@example.com>', name: 'Ada' },
    ]);
    expect(successful.map(({ email, reason }) => [email, reason])).toEqual([
      ['carl@example.net', 'COMPLAINT'],
      ['ada@example.net', 'MANUAL'],
      ['carl@example.net', 'COMPLAINT'],
    ]);
    expect(successful[1]).toEqual(present);
    expect(successful[2]).toEqual(successful[0]);
    expect(failed.map(({ index, email, error }) => [index, email, error.statusCode])).toEqual([
      [1, 'ada@', 400],
      [2, null, 400],
      [4, 'bob@example.net', 400],
      [6, 'Ada <ada@example.com>', 400],
    ]);
    const wanted = [/`email`/, /The suppression is null; give an object/, /`reason`/, /`email`.*`name`/];
    wanted.forEach((one, n) => expect(failed[n]!.error.message).toMatch(one));
    expect(await list()).toHaveLength(2);
    expect(await audited()).toHaveLength(2);
    expect(await addAll([{ email: 'ada@' }])).toMatchObject({ successful: [], failed: [{ index: 0 }] });
  });

  it('adds each address once, in whatever order concurrent batches have them', async () => {
    const addresses = Array.from({ length: 500 }, (_, n) => ({ email: `p${n}-${newRecipient()}` }));
    const batches = [addresses, addresses.toReversed(), addresses, addresses.toReversed()];
    const outcomes = await Promise.all(batches.map(addAll));
    const idsOf = ({ successful }: Outcome) => successful.map(({ id }) => id);
    expect(outcomes.map(({ successful }) => successful.map(({ email }) => ({ email })))).toEqual(batches);
    expect(new Set(outcomes.flatMap(idsOf)).size).toBe(500);
    const sql = `SELECT count(*)::int FROM audit_log WHERE workspace_id = $1 AND action = 'suppression.created'`;
    expect(await stack.count(sql, [uuidOf(tenant.workspaceId)])).toBe(500);
  });
});

describe(`POST ${PATH}/batch: 400`, () => {
  it('G11: has 1 to 500 items, in an object', async () => {
    const suppressions = Array.from({ length: 501 }, (_, n) => ({ email: `p${n}@example.net` }));
    for (const [body, message] of [
      [{ suppressions }, '`suppressions` has 501 items, 1 more than the 500 allowed'],
      [{ suppressions: [] }, '`suppressions` is empty; give 1 to 500 suppressions'],
      [suppressions, 'The body must be a JSON object with `suppressions`, an array of 1 to 500 suppressions'],
    ] as const) {
      const answer = await api.post(`${PATH}/batch`, body);
      expect([answer.status, answer.body['message']]).toEqual([400, expect.stringContaining(message)]);
    }
    expect(await list()).toEqual([]);
  });
});
