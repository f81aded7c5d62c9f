import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createTransport } from 'nodemailer';
import { Mailbox } from './mailbox.mjs';
import { readHtml } from './read-mail.mjs';
import { asSaid, createReceiver } from './receive.mjs';
import { createShow } from './show.mjs';

const mail = (subject: string) =>
  Buffer.from(`From: "A, b" <a@example.com>\r\nSubject: ${subject}\r\n\r\nHello\r\n`);
const envelope = (to: string) => ({ from: 'bounce@example.com', to: [to] });

describe('A mailbox', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'inbox-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('shows the newest first, and finds by address and subject', async () => {
    const mailbox = new Mailbox(folder);
    for (const name of ['one', 'two'])
      await mailbox.keep(envelope(`${name}@example.net`), mail(`=?utf-8?q?N=C2=B0?= ${name}`));

    expect(mailbox.list().messages.map(({ subject }) => subject)).toEqual(['N° two', 'N° one']);
    expect(mailbox.list({ to: 'ONE@' }).matching).toBe(1);
    expect(mailbox.list({ subject: 'three' }).matching).toBe(0);
  });

  it('has the same bytes after a restart, and drops mails that were never acknowledged', async () => {
    const { id } = await new Mailbox(folder).keep(envelope('one@example.net'), mail('kept'));
    writeFileSync(join(folder, '99999999999999-00000.eml'), 'half a mail');
    const again = new Mailbox(folder);

    expect(again.size).toBe(1);
    expect(await again.source(id)).toEqual(mail('kept'));
    expect(readdirSync(folder)).toHaveLength(2);
  });

  it('removes the oldest mails above its limit', async () => {
    const mailbox = new Mailbox(folder, { limit: 2 });
    for (const name of ['one', 'two', 'three']) await mailbox.keep(envelope('a@example.net'), mail(name));

    expect(mailbox.list().messages.map(({ subject }) => subject)).toEqual(['three', 'two']);
    expect(readdirSync(folder)).toHaveLength(4);
  });

  it('is still served after a request for an invalid URL', async () => {
    const server = createShow(new Mailbox(folder)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).status;
    expect([await statusOf('//'), await statusOf('/health')]).toEqual([404, 200]);
    server.close().closeAllConnections();
  });

  it('is served only for names and addresses of this machine, which prevents DNS rebinding', async () => {
    const server = createShow(new Mailbox(folder)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const statusFor = async (host: string, path: string) => {
      const headers = { host: `${host}:${port}` };
      const [answer] = (await once(get({ port, host: '127.0.0.1', path, headers }), 'response')) as [
        IncomingMessage,
      ];
      answer.destroy();
      return answer.statusCode;
    };
    for (const path of ['/', '/api/messages', '/api/changes']) {
      for (const host of ['127.0.0.1', 'localhost', 'inbox.localhost', 'LOCALHOST', '[::1]', '192.168.1.2'])
        expect([host, await statusFor(host, path)]).toEqual([host, 200]);
      for (const host of [
        'rebound.example',
        '127.0.0.1.rebound.example',
        'localhost.example',
        'notlocalhost',
      ])
        expect([host, await statusFor(host, path)]).toEqual([host, 421]);
    }
    server.close().closeAllConnections();
  });
});

/** An address of the maximum length. */
const OF_254_BYTES = `${'a'.repeat(64)}@${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(49)}.example.net`;

describe('The SMTP side', () => {
  it.each([
    ['bounced@example.net', '550 5.1.1 No such user here'],
    ['Bounced+7@example.net', '550 5.1.1 No such user here'],
    ['blocked@example.net', '554 5.7.1 Refused by policy'],
    ['delayed@example.net', '451 4.7.1 Try again later'],
    ['ada+bounced@example.net', undefined],
    ['bouncedly@example.net', undefined],
    ['bounced-later@example.net', undefined],
    [OF_254_BYTES, undefined],
  ])('answers %s with a refusal: %s', async (to, refusal) => {
    const folder = mkdtempSync(join(tmpdir(), 'inbox-'));
    const mailbox = new Mailbox(folder);
    const receiver = createReceiver(mailbox);
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.server.address() as AddressInfo;
    const client = createTransport({ host: '127.0.0.1', port, ignoreTLS: true });
    const answer = client.sendMail({ envelope: envelope(to), raw: mail('tried') }).then(
      () => undefined,
      ({ response }: { response: string }) => response,
    );
    expect(await answer).toBe(refusal);
    expect(mailbox.size).toBe(refusal === undefined ? 1 : 0);
    client.close();
    await new Promise<void>((resolve) => receiver.close(resolve));
    rmSync(folder, { recursive: true });
  });
});

describe('The address of an envelope', () => {
  it.each([
    ['ada@bücher.example', 'ada@xn--bcher-kva.example'],
    ['дмитрий@faß.de', 'дмитрий@xn--fa-hia.de'],
    ['Ada.L@example.net', 'Ada.L@example.net'],
    ['ada@[127.0.0.1]', 'ada@[127.0.0.1]'],
    ['postmaster', 'postmaster'],
    ['', ''],
  ])('%s is kept as it was said: %s', (shown, said) => {
    expect(asSaid(shown)).toBe(said);
  });
});

describe('The HTML of a mail', () => {
  it('has only the images that the mail contains', async () => {
    const source = [
      'Content-Type: multipart/related; boundary=b',
      '',
      '--b',
      'Content-Type: text/html',
      '',
      '<img src="cid:logo"><img src="cid:other">',
      '--b',
      'Content-Type: image/png',
      'Content-ID: <logo>',
      'Content-Transfer-Encoding: base64',
      '',
      'AAAA',
      '--b--',
    ].join('\r\n');

    const html = await readHtml(Buffer.from(source));
    expect(html).toContain('src="data:image/png;base64,AAAA"');
    expect(html).toContain('src="cid:other"');
  });

  it('contains nothing that makes a browser connect to another server', async () => {
    const body =
      '<LINK rel=preconnect href=//x.example><iframe srcdoc="<link rel=preconnect>"></iframe><frame src=//x.example><p>Hi</p><linked>';
    const html = await readHtml(Buffer.from(`Content-Type: text/html\r\n\r\n${body}\r\n`));
    expect(html).not.toMatch(/<(link|i?frame)[ >]/i);
    expect(html).toContain('<p>Hi</p><linked>');
  });
});
