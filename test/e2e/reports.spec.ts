import { createTransport } from 'nodemailer';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { type AppUnderTest, FaultProxy } from '@posthorn/testing';
import { type Answer, emailIn, type ShownEmail } from './api.ts';
import { complaint, notification } from './returned-mail.ts';
import { newRecipient, validEmail, Stack, until } from './stack.ts';

const DOMAIN = 'bounces.example.com';
const EVENTS = ['EMAIL_DELIVERED', 'EMAIL_DELAYED', 'EMAIL_BOUNCED', 'EMAIL_COMPLAINED'];

let inbound: AppUnderTest;
let database: FaultProxy;
let port: number;
const stack = Stack.forTests({
  env: { BOUNCE_DOMAIN: DOMAIN, INBOUND_PORT: '0', INBOUND_HOST: '127.0.0.1' },
});
beforeAll(async () => {
  database = await FaultProxy.before(stack.databaseUrl);
  inbound = await stack.startApp('inbound', { DATABASE_URL: database.urlFor(stack.databaseUrl) });
  await inbound.program.waitForOutput('accepting returned mail');
  port = Number(/"port":(\d+),"domain"/.exec(inbound.program.output)![1]);
  const editor = stack.apiAs(stack.tenant.keys.editor);
  await editor.post('/v1/webhooks', { url: 'https://example.com/hook', events: EVENTS });
});
afterAll(() => database.close());

interface Sent {
  readonly id: string;
  readonly to: string;
  /** Its bounce address. */
  readonly returnPath: string;
}

async function send(): Promise<Sent> {
  const to = newRecipient();
  const answer: Answer = await stack.send({ ...validEmail(), to });
  const { from } = await stack.onlyMailTo(to);
  return { id: emailIn(answer).id, to, returnPath: from };
}

/** The reply to the end of a mail, or to its recipient if that is refused. */
async function bring(to: string, raw: string): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  try {
    const { response } = await transport.sendMail({ envelope: { from: '', to: [to] }, raw });
    return response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    transport.close();
  }
}

const bounce = (sent: Sent): string =>
  notification(sent, 'failed', '5.1.1', `550 5.1.1 <${sent.to}>: User unknown`);

const qmailBounce = ({ to }: Sent): string[] => [
  'Hi. This is the qmail-send program at mx.example.net.',
  "I'm afraid I wasn't able to deliver your message to the following addresses.",
  '',
  `<${to}>:`,
  'Sorry, no mailbox here by that name. (#5.1.1)',
  '',
  '--- Below this line is a copy of the message.',
  '',
];

const show = (sent: Sent): Promise<ShownEmail> => stack.show(sent.id);

async function suppressionOf({ to }: Sent): Promise<string | undefined> {
  const { body } = await stack.api().get(`/v1/suppressions?email=${encodeURIComponent(to)}`);
  const { items } = body['suppressions'] as { items: { reason: string }[] };
  return items[0]?.reason;
}

async function toldOf({ id }: Sent): Promise<string[]> {
  const { rows } = await stack.database.pool.query<{ type: string }>(
    `SELECT type FROM events WHERE workspace_id = $1 AND payload::jsonb #>> '{data,email,id}' = $2 ORDER BY id`,
    [uuidOf(stack.tenant.workspaceId), id],
  );
  return rows.map(({ type }) => type);
}

/** The last event of the email, without the email itself. */
async function toldBeside({ id }: Sent): Promise<object> {
  const { rows } = await stack.database.pool.query<{ data: { email: object } }>(
    `SELECT payload::json -> 'data' AS data FROM events
     WHERE workspace_id = $1 AND payload::jsonb #>> '{data,email,id}' = $2 ORDER BY created_at DESC LIMIT 1`,
    [uuidOf(stack.tenant.workspaceId), id],
  );
  const { email: _email, ...beside } = rows[0]!.data;
  return beside;
}

describe('Returned mail', () => {
  it('S19, W12: about an unknown user makes the email BOUNCED, suppresses the recipient, and is reported, once', async () => {
    const sent = await send();
    expect(sent.returnPath).toMatch(/^bounce\+[0-9a-z]{52}@bounces\.example\.com$/);
    for (let n = 0; n < 2; n += 1) expect(await bring(sent.returnPath, bounce(sent))).toMatch(/^250 /);
    const { status, timeline } = await show(sent);
    expect(status).toBe('BOUNCED');
    expect(timeline.map(({ event }) => event)).toEqual(['ACCEPTED', 'SENT', 'BOUNCED']);
    expect(timeline.at(-1)).toMatchObject({
      report: 'failed',
      class: 'unknown_user',
      reportedBy: 'mx.example.net',
      reply: { code: 550, enhancedCode: '5.1.1', text: `<${sent.to}>: User unknown` },
    });
    expect(await suppressionOf(sent)).toBe('HARD_BOUNCE');
    expect(await toldOf(sent)).toEqual(['EMAIL_BOUNCED']);
    expect(await toldBeside(sent)).toEqual({
      class: 'unknown_user',
      reply: { code: 550, enhancedCode: '5.1.1', text: `<${sent.to}>: User unknown` },
    });
    expect(await stack.send({ to: sent.to })).toMatchObject({ status: 200 });
  });

  it('S19: of qmail, which has no fields, suppresses the recipient; a reply that quotes it does nothing', async () => {
    const sent = await send();
    const reply = ['Subject: Re: failure notice', '', 'You sent me this:', '', ...qmailBounce(sent)];
    expect(await bring(sent.returnPath, reply.join('\r\n'))).toMatch(/^250 /);
    expect((await show(sent)).status).toBe('SENT');
    const original = ['Subject: failure notice', '', ...qmailBounce(sent)];
    expect(await bring(sent.returnPath, original.join('\r\n'))).toMatch(/^250 /);
    const { status, timeline } = await show(sent);
    expect(status).toBe('BOUNCED');
    expect(timeline.at(-1)).toMatchObject({ class: 'unknown_user', reply: { enhancedCode: '5.1.1' } });
    expect(await suppressionOf(sent)).toBe('HARD_BOUNCE');
  });

  it('S19: about a message that the server refused in words of its own makes it FAILED, and suppresses nobody', async () => {
    const sent = await send();
    const refused = notification(sent, 'failed', '5.0.0', '550 We do not want this').replace(
      'What became of your message.',
      `<${sent.to}>: host mx.example.net said: 550 We do not want\r\n    this (in reply to end of DATA command)`,
    );
    expect(await bring(sent.returnPath, refused)).toMatch(/^250 /);
    const { status, timeline } = await show(sent);
    expect(status).toBe('FAILED');
    expect(timeline.at(-1)).toMatchObject({ event: 'FAILED', class: 'content' });
    expect(await suppressionOf(sent)).toBeUndefined();
  });

  it('S8, W12: about a delivery makes it DELIVERED, and a complaint after that COMPLAINED', async () => {
    const sent = await send();
    const delivered = notification(sent, 'delivered', '2.0.0', '250 2.0.0 Ok');
    expect(await bring(sent.returnPath.toUpperCase(), delivered)).toMatch(/^250 /);
    expect((await show(sent)).status).toBe('DELIVERED');
    expect(await bring(sent.returnPath, complaint())).toMatch(/^250 /);
    expect(await bring(sent.returnPath, bounce(sent))).toMatch(/^250 /);
    const { status, timeline } = await show(sent);
    expect(status).toBe('COMPLAINED');
    expect(timeline.at(-2)).toMatchObject({ event: 'COMPLAINED', reportedBy: 'Provider-FBL/1.0' });
    expect(timeline.at(-1)).toMatchObject({ event: 'BOUNCED', late: true });
    expect(await suppressionOf(sent)).toBe('COMPLAINT');
    expect(await toldOf(sent)).toEqual(['EMAIL_DELIVERED', 'EMAIL_COMPLAINED']);
  });

  it('W12: about a delay is reported, and an unrecognised mail is only stored', async () => {
    const sent = await send();
    const later = notification(sent, 'delayed', '4.4.1', '450 4.4.1 no answer');
    expect(await bring(sent.returnPath, later)).toMatch(/^250 /);
    expect(await bring(sent.returnPath, 'Subject: I am away\r\n\r\nUntil Monday.\r\n')).toMatch(/^250 /);
    const { status, timeline } = await show(sent);
    expect(status).toBe('SENT');
    expect(timeline.slice(2)).toMatchObject([
      { event: 'DELAYED', report: 'delayed', class: 'soft_bounce' },
      { event: 'UNRECOGNISED', report: 'unrecognised', reason: 'no_report' },
    ]);
    expect(await suppressionOf(sent)).toBeUndefined();
    expect(await toldOf(sent)).toEqual(['EMAIL_DELAYED']);
  });

  it('is refused for addresses that are invented, changed, or of an unknown email', async () => {
    const sent = await send();
    const [local] = sent.returnPath.split('@') as [string];
    const last = local.endsWith('0') ? '1' : '0';
    for (const to of [
      `nobody@${DOMAIN}`,
      `bounce+${'1'.repeat(52)}@${DOMAIN}`,
      `${local.slice(0, -1)}${last}@${DOMAIN}`,
      `${local}@example.com`,
    ]) {
      expect(await bring(to, bounce(sent))).toBe('550 5.1.1 No such address here');
    }
    expect((await show(sent)).status).toBe('SENT');
    // Otherwise nobody would notice that a key is missing.
    await until(
      () => inbound.program.output.includes('no key in ENCRYPTION_KEYS has signed'),
      'it is logged',
    );
  });

  it('is refused temporarily while the database is unavailable', async () => {
    const sent = await send();
    await database.refuse();
    expect(await bring(sent.returnPath, bounce(sent))).toMatch(/^451 /);
    await database.heal();
    await until(async () => (await bring(sent.returnPath, bounce(sent))).startsWith('250'), 'it is taken');
    expect((await show(sent)).status).toBe('BOUNCED');
  });

  it('is counted', async () => {
    const text = await (await fetch(inbound.metricsUrl)).text();
    expect(text).toMatch(/posthorn_inbound_reports_total\{kind="failed"\} [1-9]/);
    expect(text).toMatch(/posthorn_inbound_refusals_total\{reason="noSuchAddress"\} 4/);
  });

  it('is no longer accepted after SIGTERM, which ends the process in order', async () => {
    expect(await inbound.program.stop()).toEqual({ code: 0, signal: null });
    expect(inbound.program.output).not.toContain('receiver.example');
  });
});
