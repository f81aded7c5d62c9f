import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import { type AppUnderTest, COMMIT_SENT, FaultProxy, freePort } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { contactChanges } from './contact-changes.ts';
import { notification } from './returned-mail.ts';
import { newRecipient, Stack, type Tenant, until, validEmail } from './stack.ts';

const DOMAIN = 'bounces.example.com';
const UNSUBSCRIBE_ADDRESS = /<mailto:(unsub-[^?]+)/;

interface Sent {
  readonly id: string;
  readonly to: string;
  /** Its return path. */
  readonly returnPath: string;
  /** Where a mail unsubscribes. */
  readonly unsubscribeAddress: string;
}

/** A mail that comes in about an email. */
interface Incoming {
  readonly to: string;
  readonly raw: string;
}

/** Before the database of the first inbound. */
let way: FaultProxy;
let first: AppUnderTest;
let ports: [number, number];
let tenant: Tenant;

const startFirst = (): Promise<AppUnderTest> =>
  startInbound({ DATABASE_URL: way.urlFor(stack.databaseUrl), INBOUND_PORT: String(ports[0]) });

async function startInbound(env: Record<string, string>): Promise<AppUnderTest> {
  const app = await stack.startApp('inbound', env);
  await app.program.waitForOutput('accepting returned mail');
  return app;
}

const stack = Stack.forTests({ env: { BOUNCE_DOMAIN: DOMAIN, INBOUND_HOST: '127.0.0.1' } });
beforeAll(async () => {
  way = await FaultProxy.before(stack.databaseUrl);
  ports = [await freePort(), await freePort()];
  first = await startFirst();
  await startInbound({ INBOUND_PORT: String(ports[1]) });
});
afterAll(() => way.close());
beforeEach(async () => {
  tenant = await stack.createTenant('The Shop');
  const hook = { url: 'https://example.com/hook', events: ['EMAIL_BOUNCED', 'CONTACT_UNSUBSCRIBED'] };
  await stack.apiAs(tenant.keys.editor).post('/v1/webhooks', hook);
});
afterEach(async () => {
  await way.heal();
  if (first.program.hasEnded) first = await startFirst();
});

async function send(): Promise<Sent> {
  const to = newRecipient();
  const email = { ...validEmail(), to, settings: { unsubscribe: true } };
  const { id } = emailIn(await stack.apiAs(tenant.keys.apiUser).post('/v1/emails', email));
  const { from, raw } = await stack.onlyMailTo(to);
  const { headers } = await PostalMime.parse(raw);
  const { value } = headers.find(({ key }) => key === 'list-unsubscribe')!;
  return { id, to, returnPath: from, unsubscribeAddress: UNSUBSCRIBE_ADDRESS.exec(value)![1]! };
}

/** The reply to the end of the mail, or to its recipient if that is refused; empty: none. */
async function bring({ to, raw }: Incoming, port = ports[0]): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  try {
    return (await transport.sendMail({ envelope: { from: 'ada@example.net', to: [to] }, raw })).response;
  } catch (error) {
    return (error as { response?: string }).response ?? '';
  } finally {
    transport.close();
  }
}

const untilTaken = (mail: Incoming): Promise<void> =>
  until(async () => (await bring(mail)).startsWith('250 '), 'it is taken');

async function changesOfEmail({ id, to }: Sent): Promise<string[]> {
  const { rows } = await stack.database.pool.query<{ what: string }>(
    `SELECT kind::text AS what FROM email_events WHERE email_id = $1 AND report IS NOT NULL
     UNION ALL SELECT type FROM events WHERE workspace_id = $2
     UNION ALL SELECT reason::text FROM suppressions WHERE workspace_id = $2 AND email = $3 ORDER BY 1`,
    [uuidOf(id as EmailId), uuidOf(tenant.workspaceId), to],
  );
  return rows.map(({ what }) => what);
}

describe.each([
  {
    what: 'A returned mail',
    mailAbout: (sent: Sent): Incoming => ({
      to: sent.returnPath,
      raw: notification(sent, 'failed', '5.1.1', '550 5.1.1 User unknown'),
    }),
    changes: changesOfEmail,
    once: ['BOUNCED', 'EMAIL_BOUNCED', 'HARD_BOUNCE'],
  },
  {
    what: 'S20: A mail that unsubscribes',
    mailAbout: (sent: Sent): Incoming => ({
      to: sent.unsubscribeAddress,
      raw: 'Subject: unsubscribe\r\n\r\n',
    }),
    changes: () => contactChanges(stack, tenant.workspaceId),
    once: ['CONTACT_CREATED', 'CONTACT_UNSUBSCRIBED', 'contact.unsubscribed recipient'],
  },
])('$what counts once and is not lost', ({ mailAbout, changes, once }) => {
  it.each(['before', 'after'] as const)(
    'when its server dies %s the commit, without an answer, and it comes again',
    async (when) => {
      const sent = await send();
      const mail = mailAbout(sent);
      const isHeld = way.freezeAt(COMMIT_SENT, when);
      const unanswered = bring(mail);
      await isHeld;
      const isCommitted = async (): Promise<boolean> => (await changes(sent)).length > 0;
      if (when === 'after') await until(isCommitted, 'it is committed');
      first.program.kill('SIGKILL');
      await first.program.exit;
      expect(await unanswered).toBe('');
      way.cutAll();
      await way.heal();
      expect(await changes(sent)).toEqual(when === 'after' ? once : []);
      expect(await bring(mail, ports[1])).toMatch(/^250 /);
      expect(await changes(sent)).toEqual(once);
    },
  );

  it.each(['before', 'after'] as const)(
    'when Postgres hangs %s the commit: the sending server is told to come again',
    async (when) => {
      const sent = await send();
      const mail = mailAbout(sent);
      const isHeld = way.freezeAt(COMMIT_SENT, when);
      const answer = bring(mail);
      await isHeld;
      expect(await answer).toMatch(/^451 /);
      await way.heal();
      await untilTaken(mail);
      expect(await changes(sent)).toEqual(once);
    },
  );

  it('when Postgres ends its session before the commit', async () => {
    const sent = await send();
    const mail = mailAbout(sent);
    const isHeld = way.freezeAt(COMMIT_SENT, 'before');
    const answer = bring(mail);
    await isHeld;
    await stack.database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE  datname = current_database() AND application_name = 'posthorn-inbound' AND state = 'idle in transaction'`,
    );
    await way.heal();
    expect(await answer).toMatch(/^451 /);
    expect(await changes(sent)).toEqual([]);
    await untilTaken(mail);
    expect(await changes(sent)).toEqual(once);
  });

  it('when it arrives at two servers at once, several times', async () => {
    const sent = await send();
    const mail = mailAbout(sent);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => bring(mail, ports[n % 2])));
    expect(answers.filter((answer) => !answer.startsWith('250 '))).toEqual([]);
    expect(await changes(sent)).toEqual(once);
  });

  it('when its server gets SIGTERM before the commit: it records and answers, and then ends', async () => {
    const sent = await send();
    const isHeld = way.freezeAt(COMMIT_SENT, 'before');
    const answer = bring(mailAbout(sent));
    await isHeld;
    const ended = first.program.stop();
    await first.program.waitForOutput('SIGTERM');
    await way.heal();
    expect(await answer).toMatch(/^250 /);
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(await changes(sent)).toEqual(once);
  });
});
