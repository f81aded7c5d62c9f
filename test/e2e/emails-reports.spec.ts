import { beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, newId, uuidOf } from '@posthorn/kernel';
import { type Answer, Api, emailIn, type ShownEmail } from './api.ts';
import { newRecipient, Stack, type Tenant, until, validEmail } from './stack.ts';
import { DAY_MS, fromNow } from './times.ts';

const EVENTS = ['EMAIL_DELIVERED', 'EMAIL_DELAYED', 'EMAIL_BOUNCED', 'EMAIL_FAILED', 'EMAIL_COMPLAINED'];
const UNKNOWN_USER = { code: 550, enhancedCode: '5.1.1', text: 'No such user here' };
const FAILED = { report: 'failed', reply: UNKNOWN_USER, reportedBy: 'Amazon SES' };

const stack = Stack.forTests({ gateways: 2 });
let tenant: Tenant;
let api: Api;
beforeEach(async () => {
  tenant = await stack.createTenant('Reports');
  api = stack.apiAs(tenant.keys.apiUser);
  await api.post('/v1/webhooks', { url: 'https://example.com/hook', events: EVENTS });
});

/** An email that the relay has taken. */
async function sentEmail(): Promise<string> {
  const { id } = emailIn(await api.post('/v1/emails', { ...validEmail(), to: newRecipient() }));
  await until(async () => (await stack.outboxRow(id)) === undefined, `${id} is sent`);
  return id;
}

async function scheduledEmail(): Promise<string> {
  return emailIn(await api.post('/v1/emails', { ...validEmail(), sendAt: fromNow(DAY_MS) })).id;
}

const report = (id: string, body: unknown, from = api): Promise<Answer> =>
  from.post(`/v1/emails/${id}/reports`, body);

const show = async (id: string): Promise<ShownEmail> => emailIn(await api.get(`/v1/emails/${id}`));

const factsOf = ({ timeline }: ShownEmail): string[] =>
  timeline.map(({ event, late }) => (late === true ? `${event} late` : event));

async function suppressionOf({ to }: ShownEmail): Promise<unknown> {
  const { body } = await api.get(`/v1/suppressions?email=${encodeURIComponent(to)}`);
  return (body['suppressions'] as { items: { reason: string; emailId: string }[] }).items[0];
}

/** The events about the email by their names, with what they say beside it. */
async function eventsAbout(id: string): Promise<{ type: string; beside: object }[]> {
  const { rows } = await stack.database.pool.query<{ type: string; beside: object }>(
    `SELECT type, payload::jsonb -> 'data' #- '{email}' AS beside FROM events
     WHERE workspace_id = $1 AND payload::jsonb #>> '{data,email,id}' = $2 ORDER BY type`,
    [uuidOf(tenant.workspaceId), id],
  );
  return rows;
}

describe('POST /v1/emails/{id}/reports', () => {
  it('E19, S8, S19, W12: of a failure has the effects of returned mail, and the second one has none', async () => {
    const id = await sentEmail();
    const first = await report(id, FAILED);
    const shown = emailIn<ShownEmail>(first);
    expect([first.status, shown.id, shown.status]).toEqual([200, id, 'BOUNCED']);
    expect(factsOf(shown)).toEqual(['ACCEPTED', 'SENT', 'BOUNCED']);
    expect(shown.timeline.at(-1)).toMatchObject({
      report: 'failed',
      class: 'unknown_user',
      reply: UNKNOWN_USER,
      reportedBy: 'Amazon SES',
    });
    expect(await suppressionOf(shown)).toMatchObject({ reason: 'HARD_BOUNCE', emailId: id });
    const again = await report(id, { ...FAILED, reply: { code: 552 } }, stack.apiAs(tenant.keys.editor));
    expect([again.status, again.text]).toEqual([200, first.text]);
    expect(await eventsAbout(id)).toEqual([
      { type: 'EMAIL_BOUNCED', beside: { class: 'unknown_user', reply: UNKNOWN_USER } },
    ]);
  });

  it('E19: counts once, of several at the same time', async () => {
    const id = await sentEmail();
    const other = new Api(stack.gateways[1]!.url, tenant.keys.apiUser);
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map((n) => report(id, FAILED, n % 2 ? api : other)));
    for (const answer of answers) expect(emailIn(answer).status).toBe('BOUNCED');
    expect(factsOf(await show(id))).toEqual(['ACCEPTED', 'SENT', 'BOUNCED']);
    expect(await eventsAbout(id)).toHaveLength(1);
  });

  it('E19, S8, S19, W12: of a delay, a delivery and a complaint after it, tells each', async () => {
    const id = await sentEmail();
    const reply = { text: '450 4.4.1 no answer' };
    expect(emailIn(await report(id, { report: 'delayed', reply })).status).toBe('SENT');
    expect(emailIn(await report(id, { report: 'delivered' })).status).toBe('DELIVERED');
    expect(emailIn(await report(id, { report: 'complaint' })).status).toBe('COMPLAINED');
    const shown = emailIn<ShownEmail>(await report(id, FAILED));
    expect(shown.status).toBe('COMPLAINED');
    expect(factsOf(shown)).toEqual([
      'ACCEPTED',
      'SENT',
      'DELAYED',
      'DELIVERED',
      'COMPLAINED',
      'BOUNCED late',
    ]);
    expect(await suppressionOf(shown)).toMatchObject({ reason: 'COMPLAINT', emailId: id });
    expect(await eventsAbout(id)).toEqual([
      { type: 'EMAIL_COMPLAINED', beside: {} },
      {
        type: 'EMAIL_DELAYED',
        beside: { class: 'soft_bounce', reply: { code: 450, enhancedCode: '4.4.1', text: 'no answer' } },
      },
      { type: 'EMAIL_DELIVERED', beside: {} },
    ]);
  });

  it.each([
    ['without a reply', {}],
    ['by a block list', { reply: { code: 550, enhancedCode: '5.7.1', text: 'listed at Spamhaus' } }],
    ['after temporary replies', { reply: { code: 421, text: '4.4.7 Too old' } }],
  ])('E19, S19: of a failure %s suppresses nobody', async (_how, change) => {
    const id = await sentEmail();
    const shown = emailIn<ShownEmail>(await report(id, { report: 'failed', ...change }));
    expect([shown.status, await suppressionOf(shown)]).toEqual(['FAILED', undefined]);
    expect(await eventsAbout(id)).toMatchObject([{ type: 'EMAIL_FAILED' }]);
  });

  it('E19: of a cancelled email is only in its timeline, but a complaint suppresses the recipient', async () => {
    const id = await scheduledEmail();
    await api.post(`/v1/emails/${id}/cancel`, new Uint8Array());
    const failed = emailIn<ShownEmail>(await report(id, FAILED));
    expect([failed.status, await suppressionOf(failed)]).toEqual(['CANCELLED', undefined]);
    expect(factsOf(failed)).toEqual(['SCHEDULED', 'CANCELLED', 'BOUNCED late']);
    const complaint = emailIn<ShownEmail>(await report(id, { report: 'complaint' }));
    expect(complaint.status).toBe('CANCELLED');
    expect(await suppressionOf(complaint)).toMatchObject({ reason: 'COMPLAINT' });
  });

  it('E19: of an email that a restored backup has as scheduled keeps it from being sent again', async () => {
    const id = await scheduledEmail();
    expect(emailIn(await report(id, { report: 'delivered' })).status).toBe('DELIVERED');
    expect(await stack.outboxRow(id)).toBeUndefined();
  });

  it('E19: keeps of a hostile reply one line of 512 visible characters', async () => {
    const id = await sentEmail();
    const text = `550 5.1.1 <script>\r\nBcc: \u202ex@y.example\u0007${'x'.repeat(9_000)}`;
    const { timeline } = emailIn<ShownEmail>(await report(id, { report: 'failed', reply: { text } }));
    const { reply } = timeline.at(-1) as unknown as { reply: { text: string } };
    expect(reply.text).toMatch(/^<script> Bcc: x@y\.example x+$/);
    expect(reply.text).toHaveLength(512);
  });

  it('E19, G11: may be as large as the limits', async () => {
    const id = await sentEmail();
    const reply = { code: 599, enhancedCode: '5.999.999', text: '漢'.repeat(10_000) };
    const { timeline } = emailIn<ShownEmail>(
      await report(id, { report: 'failed', reply, reportedBy: '😀'.repeat(255) }),
    );
    expect(timeline.at(-1)).toMatchObject({
      reply: { ...reply, text: '漢'.repeat(512) },
      reportedBy: '😀'.repeat(255),
    });
  });

  it('E19: needs no more than an API_USER, and makes the report visible on the other gateway at once', async () => {
    const id = await sentEmail();
    await report(id, { report: 'delivered' });
    const { body } = await stack.api(1).get(`/v1/emails/${id}`, { key: tenant.keys.viewer });
    expect((body['email'] as ShownEmail).status).toBe('DELIVERED');
  });

  it('is counted, also for the dashboard', async () => {
    await report(await sentEmail(), { report: 'delivered' });
    const texts = await Promise.all(
      stack.gateways.map(async ({ metricsUrl }) => (await fetch(metricsUrl)).text()),
    );
    expect(texts.join('\n')).toMatch(/posthorn_inbound_reports_total\{kind="delivered"\} [1-9]/);
    const counted = `SELECT count(*)::int FROM rate_minutes WHERE what = 'report' AND label = 'delivered'`;
    await until(async () => (await stack.count(counted)) > 0, 'the gateway records its counts');
  });

  it('E19, G3: is 400 for a reply that contradicts the report', async () => {
    const id = await sentEmail();
    const { status, body } = await report(id, { report: 'delivered', reply: { code: 550 } });
    expect([status, body]).toEqual([
      400,
      {
        statusCode: 400,
        error: 'Bad Request',
        message: '`reply` has the code 550, but `report` is `delivered`; correct one of them',
      },
    ]);
    expect((await show(id)).status).toBe('SENT');
  });

  it('A3, A4: is 401 for a key that only reads', async () => {
    const id = await sentEmail();
    const { status, body } = await report(id, FAILED, stack.apiAs(tenant.keys.viewer));
    expect([status, body['message']]).toEqual([401, expect.stringContaining('scope `api_user`')]);
    expect(factsOf(await show(id))).toEqual(['ACCEPTED', 'SENT']);
  });

  it('G3: is 404 for an unknown email, and for one of another workspace, which it does not change', async () => {
    const id = await sentEmail();
    const stranger = stack.apiAs((await stack.createTenant('Stranger')).keys.editor);
    const unknown = await report(newId('trs', Date.now()), FAILED);
    const foreign = await report(id, FAILED, stranger);
    expect([unknown.status, foreign.status, foreign.text]).toEqual([404, 404, unknown.text]);
    expect((await show(id)).status).toBe('SENT');
  });

  it('G3: is 409 while the email is being transmitted, and is taken afterwards', async () => {
    const id = await scheduledEmail();
    const set = (assignments: string): Promise<unknown> =>
      stack.database.pool.query(`UPDATE outbox SET ${assignments} WHERE subject_id = $1`, [
        uuidOf(id as EmailId),
      ]);
    await set(`state = 'taken', claims = claims + 1, lease_until = now() + interval '1 hour'`);
    const { status, body } = await report(id, FAILED);
    expect([status, body]).toEqual([
      409,
      {
        statusCode: 409,
        error: 'Conflict',
        message: 'The email is being transmitted at the moment; give the report again in a few seconds',
      },
    ]);
    await set(`state = 'waiting', lease_until = NULL`);
    expect(emailIn(await report(id, FAILED)).status).toBe('BOUNCED');
  });
});
