import { createTransport } from 'nodemailer';
import PostalMime from 'postal-mime';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import { type AppUnderTest, COMMIT_SENT, FaultProxy } from '@posthorn/testing';
import { type Api, emailIn, type ShownEmail } from './api.ts';
import { contactChanges, contactStatus } from './contact-changes.ts';
import { notification } from './returned-mail.ts';
import { newRecipient, Stack, type Tenant, until, validEmail } from './stack.ts';

const PUBLIC_URL = 'https://mail.posthorn.example';
const DOMAIN = 'bounces.example.com';
const HEADER =
  /^<https:\/\/mail\.posthorn\.example(\/unsubscribe\/phu_[\w-]{50})>, <mailto:(unsub-[0-9a-z]{52}@bounces\.example\.com)\?subject=unsubscribe>$/;
/** As Apple Mail writes it, which leaves the subject empty. */
const WISH =
  'From: Ada <ada@example.net>\r\nSubject: \r\n\r\nApple Mail sent this email to unsubscribe from the message “Hello”.\r\n';
const CHANGES = ['CONTACT_CREATED', 'CONTACT_UNSUBSCRIBED', 'contact.unsubscribed recipient'];

let inbound: AppUnderTest;
let database: FaultProxy;
let port: number;
let tenant: Tenant;
let api: Api;

const stack = Stack.forTests({
  env: { PUBLIC_URL, BOUNCE_DOMAIN: DOMAIN, INBOUND_PORT: '0', INBOUND_HOST: '127.0.0.1' },
});
beforeAll(async () => {
  database = await FaultProxy.before(stack.databaseUrl);
  inbound = await stack.startApp('inbound', { DATABASE_URL: database.urlFor(stack.databaseUrl) });
  await inbound.program.waitForOutput('accepting returned mail');
  port = Number(/"port":(\d+),"domain"/.exec(inbound.program.output)![1]);
});
afterAll(() => database.close());
beforeEach(async () => {
  tenant = await stack.createTenant('The Shop');
  api = stack.apiAs(tenant.keys.editor);
});

interface Sent {
  readonly id: string;
  readonly to: string;
  /** Its return path. */
  readonly returnPath: string;
  /** The path of its link. */
  readonly link: string;
  /** Where a mail unsubscribes. */
  readonly address: string;
}

async function send(to = newRecipient()): Promise<Sent> {
  const { id } = emailIn(
    await api.post('/v1/emails', { ...validEmail(), to, settings: { unsubscribe: true } }),
  );
  const { from, raw } = await stack.onlyMailTo(to);
  const { headers } = await PostalMime.parse(raw);
  const { value } = headers.find(({ key }) => key === 'list-unsubscribe')!;
  const [, link, address] = HEADER.exec(value)!;
  return { id, to, returnPath: from, link: link!, address: address! };
}

/** The reply to the end of a mail, or to its recipient if that is refused. */
async function bring(to: string, raw = WISH, from = 'ada@example.net'): Promise<string> {
  const transport = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
  try {
    return (await transport.sendMail({ envelope: { from, to: [to] }, raw })).response;
  } catch (error) {
    return (error as { response?: string }).response ?? String(error);
  } finally {
    transport.close();
  }
}

const show = async (id: string): Promise<ShownEmail> => emailIn(await api.get(`/v1/emails/${id}`));

const statusOf = ({ to }: Sent): Promise<string | undefined> => contactStatus(api, to);
const recordedChanges = (): Promise<string[]> => contactChanges(stack, tenant.workspaceId);

describe('S20: an email that can be unsubscribed from', () => {
  it('names the address after the link, byte for byte as its preview shows', async () => {
    const sent = await send();
    const shown = await show(sent.id);
    const { body } = await api.get(`/v1/emails/${sent.id}/preview`);
    expect(body['preview']).toMatchObject({ sha256: shown.timeline.at(-1)!['messageSha256'] });
  });
});

describe('S20: a mail to that address', () => {
  it('W11: unsubscribes, whoever sends it; the same mail again changes nothing', async () => {
    const sent = await send();
    expect(await bring(sent.address.toUpperCase(), WISH, 'somebody@elsewhere.example')).toMatch(/^250 /);
    for (let n = 0; n < 2; n += 1) expect(await bring(sent.address)).toMatch(/^250 /);
    expect(await statusOf(sent)).toBe('UNSUBSCRIBED');
    expect(await recordedChanges()).toEqual(CHANGES);
    const next = emailIn(
      await api.post('/v1/emails', { ...validEmail(), to: sent.to, settings: { unsubscribe: true } }),
    );
    await until(async () => (await stack.outboxRow(next.id)) === undefined, 'it is finished');
    expect((await show(next.id)).status).toBe('SUPPRESSED');
    expect(stack.mailsTo(sent.to)).toHaveLength(1);
    expect(stack.mailsTo('somebody@elsewhere.example')).toEqual([]);
  });

  it('unsubscribes once, however many arrive at the same time, and the link does the rest', async () => {
    const sent = await send();
    const mails = Array.from({ length: 6 }, () => bring(sent.address));
    const click = api.request('POST', sent.link, undefined, { key: null });
    expect(new Set((await Promise.all(mails)).map((answer) => answer.slice(0, 4)))).toEqual(
      new Set(['250 ']),
    );
    expect((await click).status).toBe(200);
    expect(await recordedChanges()).toEqual(CHANGES);
  });

  it('is taken and changes nothing where a program answers or reports with it', async () => {
    const sent = await send();
    expect(await bring(sent.address, notification(sent, 'failed', '5.1.1', '550 5.1.1 No'), '')).toMatch(
      /^250 /,
    );
    expect(await bring(sent.address, WISH, '')).toMatch(/^250 /);
    expect(await bring(sent.address, `Auto-Submitted: auto-replied\r\n${WISH}`)).toMatch(/^250 /);
    expect([await statusOf(sent), await recordedChanges()]).toEqual([undefined, []]);
    expect((await show(sent.id)).status).toBe('SENT');
  });

  it.each(['', '\r\n', '\0'.repeat(50), `${'Received: x\r\n'.repeat(20_000)}\r\n`, 'é'.repeat(300_000)])(
    'unsubscribes whatever it says (%#)',
    async (raw) => {
      const sent = await send();
      expect(await bring(sent.address, raw)).toMatch(/^250 /);
      expect(await statusOf(sent)).toBe('UNSUBSCRIBED');
    },
  );

  it('is refused at addresses that are changed, made of a return path, or of an email without the setting', async () => {
    const sent = await send();
    const to = newRecipient();
    await api.post('/v1/emails', { ...validEmail(), to });
    const { from: otherPath } = await stack.onlyMailTo(to);
    const last = sent.address.replace(/.(?=@)/, (character) => (character === '0' ? '1' : '0'));
    for (const address of [
      last,
      sent.returnPath.replace('bounce+', 'unsub-'),
      otherPath.replace('bounce+', 'unsub-'),
      sent.address.replace('unsub-', 'bounce+'),
      sent.address.replace(`@${DOMAIN}`, '@example.com'),
    ])
      expect(await bring(address)).toBe('550 5.1.1 No such address here');
    expect(await recordedChanges()).toEqual([]);
  });

  it('is refused once its email was erased, and keeps a deleted contact unsubscribed', async () => {
    const [erased, deleted] = [await send(), await send()];
    await stack.database.pool.query('DELETE FROM emails WHERE id = $1', [uuidOf(erased.id as EmailId)]);
    expect(await bring(erased.address)).toBe('550 5.1.1 No such address here');
    expect(await bring(deleted.address)).toMatch(/^250 /);
    const { body } = await api.get(`/v1/contacts?email=${encodeURIComponent(deleted.to)}`);
    const [{ id }] = (body['contacts'] as { items: [{ id: string }] }).items;
    await api.request('DELETE', `/v1/contacts/${id}`, undefined);
    expect(await bring(deleted.address)).toMatch(/^250 /);
    await api.post('/v1/contacts', { email: deleted.to });
    expect(await statusOf(deleted)).toBe('UNSUBSCRIBED');
  });
});

describe('S20: a mail that cannot be recorded', () => {
  it('is refused temporarily while the database is unavailable', async () => {
    const sent = await send();
    await database.refuse();
    expect(await bring(sent.address)).toMatch(/^451 /);
    await database.heal();
    await until(async () => (await bring(sent.address)).startsWith('250'), 'it is taken');
    expect(await recordedChanges()).toEqual(CHANGES);
  });

  it.each(['cutBefore', 'cutAfter'] as const)(
    'is refused temporarily where the connection breaks at its commit (%s), and counts once when it comes again',
    async (cut) => {
      const sent = await send();
      const isCut = database[cut](COMMIT_SENT);
      const first = await bring(sent.address);
      await isCut;
      expect(first).toMatch(/^451 /);
      await until(async () => (await bring(sent.address)).startsWith('250'), 'it is taken');
      expect(await recordedChanges()).toEqual(CHANGES);
    },
  );
});

describe('Mail to the people who run the server', () => {
  it.each([`postmaster@${DOMAIN}`, `Postmaster@${DOMAIN.toUpperCase()}`, 'postmaster', `abuse@${DOMAIN}`])(
    'is accepted at %s',
    async (address) => {
      expect(await bring(address, 'Subject: hello-postmaster\r\n\r\nx\r\n')).toMatch(/^250 /);
    },
  );

  it('is counted and reported without its content, and not accepted at other domains', async () => {
    expect(await bring('postmaster@example.com')).toMatch(/^550 /);
    const text = await (await fetch(inbound.metricsUrl)).text();
    expect(text).toMatch(/posthorn_inbound_mails_total\{kind="postmaster"\} 4/);
    expect(text).toMatch(/posthorn_inbound_mails_total\{kind="unsubscribe"\} 1/);
    await until(
      () => inbound.program.output.includes('mail to the postmaster was accepted and not kept'),
      'it is logged',
    );
    expect(inbound.program.output).toContain('it was for abuse');
    expect(inbound.program.output).not.toContain('hello-postmaster');
  });
});
