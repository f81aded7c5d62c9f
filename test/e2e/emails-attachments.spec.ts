import { createHash, randomBytes } from 'node:crypto';
import { afterAll, describe, expect, it } from '@jest/globals';
import { DnsServer, type SinkMessage } from '@posthorn/testing';
import type { Attachment } from 'postal-mime';
import { type Api, emailIn } from './api.ts';
import { parseMail } from './mail.ts';
import { addSigningDomain, BOTH, verified } from './signatures.ts';
import { newRecipient, Stack, until, validEmail } from './stack.ts';
import { createTemplate } from './templates.ts';
import { fromNow } from './times.ts';

const MIB = 1024 * 1024;

let dns: DnsServer;
const stack = Stack.forTests(async () => {
  dns = await DnsServer.start();
  return { env: { DNS_SERVERS: dns.address } };
});
afterAll(() => dns.close());

const editor = (): Api => stack.apiAs(stack.tenant.keys.editor);

interface File {
  readonly filename: string;
  readonly content: string;
  readonly contentType?: string;
  readonly contentId?: string;
}

/** A file of random bytes. */
const file = (filename: string, bytes = 5_000, change: Partial<File> = {}): File => ({
  filename,
  content: randomBytes(bytes).toString('base64'),
  ...change,
});

const shown = ({ filename, mimeType, disposition, contentId, content }: Attachment) => ({
  filename,
  mimeType,
  disposition,
  contentId,
  content: Buffer.from(content as ArrayBuffer).toString('base64'),
});

async function filesIn(message: SinkMessage): Promise<ReturnType<typeof shown>[]> {
  return (await parseMail(message)).attachments.map(shown);
}

/** The nested types of a message, as they follow each other. */
const typesIn = ({ raw }: SinkMessage): string[] =>
  [...raw.toString('latin1').matchAll(/^Content-Type: ([a-z]+\/[a-z+.-]+)/gm)].map(([, type]) => type!);

describe('S22: attachments', () => {
  it('arrive byte for byte, with names of any script, and the types of their extensions', async () => {
    const attachments = [
      file('invoice-10042.pdf'),
      file('Übersicht für März – 請求書.csv'),
      file('no extension'),
      file('mail.eml'),
      file('order.json', 100, { contentType: 'application/json; profile=order;charset=UTF-8' }),
    ];
    const { to } = emailIn(await stack.send({ attachments, text: 'See the files' }));
    const message = await stack.onlyMailTo(to);
    const types = [
      'application/pdf',
      'text/csv',
      'application/octet-stream',
      'application/octet-stream',
      'application/json',
    ];
    expect(await filesIn(message)).toEqual(
      attachments.map(({ filename, content }, index) => ({
        filename,
        content,
        mimeType: types[index],
        disposition: 'attachment',
        contentId: undefined,
      })),
    );
    expect(typesIn(message)).toEqual([
      ...['multipart/mixed', 'multipart/alternative', 'text/plain', 'text/html'],
      ...types,
    ]);
    expect(message.raw.toString()).toContain(
      'Content-Type: application/json;\r\n profile=order;\r\n charset=UTF-8\r\n',
    );
  });

  it('are beside the HTML that shows them', async () => {
    const logo = file('logo.png', 2_000, { contentId: 'logo@shop' });
    const html = '<p><img src="cid:logo@shop" alt="The shop"> Hello</p>';
    const { to } = emailIn(await stack.send({ html, attachments: [file('terms.pdf'), logo] }));
    const message = await stack.onlyMailTo(to);
    expect(typesIn(message)).toEqual([
      ...[
        'multipart/mixed',
        'multipart/alternative',
        'text/plain',
        'multipart/related',
        'text/html',
        'image/png',
      ],
      'application/pdf',
    ]);
    const { html: arrived } = await parseMail(message);
    expect(arrived).toContain('src="cid:logo@shop"');
    expect((await filesIn(message))[0]).toEqual({
      filename: 'logo.png',
      mimeType: 'image/png',
      disposition: 'inline',
      contentId: '<logo@shop>',
      content: logo.content,
    });
  });

  it('S18: are in the preview while the email waits, and leave as they were shown, signed', async () => {
    const domain = await addSigningDomain(editor(), dns, 'attached.example.net', BOTH);
    const to = newRecipient();
    const attachments = [file('a.zip', 300_000)];
    const from = `Shop <hello@${domain.value}>`;
    const { id } = emailIn(await stack.send({ from, to, attachments, sendAt: fromNow(3_600_000) }));
    const preview = await editor().get(`/v1/emails/${id}/preview`);
    const { bytes } = preview.body['preview'] as { bytes: number };
    expect(bytes).toBeGreaterThan(410_000);
    expect((await stack.api().post(`/v1/emails/${id}`, { sendAt: fromNow(0) })).status).toBe(200);
    const message = await stack.onlyMailTo(to);
    expect(await filesIn(message)).toMatchObject(attachments);
    expect((await verified(dns, message)).map(([result]) => result)).toEqual(['pass', 'pass']);
    const { body } = await editor().get(`/v1/emails/${id}/preview`);
    expect(body['preview']).toMatchObject({
      message: message.raw.toString(),
      sha256: createHash('sha256').update(message.raw).digest('hex'),
    });
  });

  it('go with templates, and in batches with each email its own', async () => {
    const { name } = await createTemplate(editor());
    const emails = [1, 2, 3].map((n) => ({
      template: name,
      to: newRecipient(),
      variables: { firstName: `Ada ${n}` },
      attachments: [file(`ticket-${n}.pdf`)],
    }));
    const { body } = await stack.api().post('/v1/emails/batch', {
      emails: [...emails, { ...validEmail(), attachments: [{ filename: 'a', content: '!' }] }],
    });
    expect(body).toMatchObject({
      emails: { successful: [{}, {}, {}], failed: [{ index: 3, error: { statusCode: 400 } }] },
    });
    for (const { to, attachments } of emails)
      expect(await filesIn(await stack.onlyMailTo(to))).toMatchObject(attachments);
  });

  it('S11: are part of what an idempotency key stands for', async () => {
    const email = { ...validEmail(), idempotencyKey: randomBytes(8).toString('hex') };
    const attachments = [file('a.pdf')];
    const first = await stack.api().post('/v1/emails', { ...email, attachments });
    const again = await stack.api().post('/v1/emails', { ...email, attachments });
    expect([again.text, again.headers.get('Idempotent-Replayed')]).toEqual([first.text, 'true']);
    for (const other of [
      {},
      { attachments: [file('a.pdf')] },
      { attachments: [{ ...attachments[0], filename: 'b.pdf' }] },
    ])
      expect((await stack.api().post('/v1/emails', { ...email, ...other })).status).toBe(409);
  });

  it('G11: may have 7 MiB, one after another', async () => {
    const recipients = Array.from({ length: 4 }, () => newRecipient());
    const attachments = [file('large.bin', 7 * MIB)];
    for (const to of recipients) expect((await stack.send({ to, attachments })).status).toBe(200);
    for (const to of recipients) {
      await until(() => stack.mailsTo(to).length > 0, 'it arrives', 60_000);
      const [arrived] = await filesIn(stack.mailsTo(to)[0]!);
      expect(arrived!.content === attachments[0]!.content).toBe(true);
    }
  });

  it('an empty array means none', async () => {
    const { to } = emailIn(await stack.send({ attachments: [] }));
    expect(typesIn(await stack.onlyMailTo(to))).toEqual(['multipart/alternative', 'text/plain', 'text/html']);
  });
});
