import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Postfix, SmtpSink, TestAuthority, whyNoPostfix } from '@posthorn/testing';
import { emailIn, type ShownEmail } from './api.ts';
import { newRecipient, Stack, until } from './stack.ts';

const why = whyNoPostfix();

if (why !== undefined) {
  describe('a real Postfix as the relay', () => {
    it.skip(`is not asked: ${why}`, () => undefined);
  });
} else {
  describe('a real Postfix as the relay', () => {
    let postfix: Postfix;
    /** The server that Postfix relays to. */
    let destination: SmtpSink;
    let authority: TestAuthority;
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-ca-'));
    const stack = Stack.forTests(async () => {
      authority = TestAuthority.create();
      writeFileSync(join(directory, 'ca.pem'), authority.certificate);
      destination = await SmtpSink.start();
      postfix = await Postfix.start({
        relayToPort: destination.port,
        certificate: authority.issue({ names: ['IP:127.0.0.1'] }),
        parameters: {
          message_size_limit: '20000',
          relay_domains: 'known.example',
          relay_recipient_maps: 'inline:{ ada@known.example=yes }',
          smtpd_recipient_restrictions:
            'check_recipient_access inline:{{slow.example = 450 4.2.0 Greylisted, come again},{denied.example = reject_unauth_destination}}, reject_unlisted_recipient',
        },
      });
      return {
        smtpUrl: () => postfix.url,
        env: {
          SMTP_TLS: 'verified',
          NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem'),
          BOUNCE_DOMAIN: 'bounces.example.com',
          BOUNCE_REPORT_DELIVERIES: 'true',
        },
      };
    });
    afterAll(async () => {
      await postfix?.close();
      await destination?.close();
      authority.close();
      rmSync(directory, { recursive: true });
    });

    async function recorded(id: string): Promise<ShownEmail> {
      await until(async () => (await stack.show(id)).timeline.length > 1, 'something is recorded');
      return stack.show(id);
    }

    const arrivedFor = (to: string): Buffer[] =>
      destination.messages.filter((message) => message.to.includes(to)).map(({ raw }) => raw);

    it('accepts an email over TLS with a verified certificate, and relays exactly the bytes of the preview', async () => {
      const html = `<p>Grüße</p>\n.\n..hidden\n${'<p>line</p>'.repeat(300)}`;
      const { id, to } = emailIn(
        await stack.send({ html, subject: 'Grüße 😀', fromName: 'Ada "the first", Lovelace' }),
      );
      expect((await recorded(id)).timeline[1]).toMatchObject({
        event: 'SENT',
        class: 'sent',
        reply: { code: 250, enhancedCode: '2.0.0', text: expect.stringContaining('queued as') },
      });
      await until(() => arrivedFor(to).length > 0, 'Postfix gives it on');
      const [message] = arrivedFor(to);
      const preview = (await stack.api().get(`/v1/emails/${id}/preview`)).body as {
        preview: { message: string };
      };
      const text = message!.toString('utf8');
      const received = text.slice(0, text.length - preview.preview.message.length);
      expect(text.endsWith(preview.preview.message)).toBe(true);
      expect(received).toMatch(/^Received: from .*by relay\.example \(Postfix\) with ESMTPS/s);
      expect(received.match(/^\S+:/gm)).toEqual(['Received:']);
      expect(arrivedFor(to)).toHaveLength(1);
    });

    it('is asked for reports (RFC 3461): to the address of the email, with its id and no more of it than its headers', async () => {
      const { id, to } = emailIn(await stack.send({ html: '<p>A secret</p>' }));
      const reports = (): string[] =>
        destination.messages
          .filter((message) => message.to[0]!.startsWith('bounce+'))
          .map(({ raw }) => raw.toString('utf8'))
          .filter((report) => report.includes(`Original-Envelope-Id: ${id}`));
      await until(() => reports().length > 0, 'Postfix reports that it has given it on');
      const [report] = reports();
      expect(report).toMatch(/^Action: relayed/m);
      expect(report).toContain(`Final-Recipient: rfc822; ${to}`);
      expect(report).toContain(`Content-Type: text/rfc822-headers`);
      expect(report).not.toContain('A secret');
    });

    it('accepts many emails over reused connections, each once', async () => {
      const all = await Promise.all(Array.from({ length: 60 }, () => stack.send()));
      const addresses = all.map((answer) => emailIn(answer).to);
      await until(() => addresses.every((to) => arrivedFor(to).length > 0), 'all are given on');
      for (const to of addresses) expect(arrivedFor(to)).toHaveLength(1);
    });

    it.each([
      [
        'nobody@known.example',
        'BOUNCED',
        { class: 'unknown_user', stage: 'rcpt', reply: { code: 550, enhancedCode: '5.1.1' } },
      ],
      [
        'ada@denied.example',
        'FAILED',
        { class: 'policy', stage: 'rcpt', reply: { code: 554, enhancedCode: '5.7.1' } },
      ],
      [
        'ada@slow.example',
        'SENT',
        { event: 'DELAYED', class: 'soft_bounce', reply: { code: 450 }, retryAfterSeconds: 60 },
      ],
    ])('of %s makes %s', async (to, status, entry) => {
      const { id } = emailIn(await stack.send({ to }));
      const shown = await recorded(id);
      expect(shown).toMatchObject({ status, sentAt: null });
      expect(shown.timeline[1]).toMatchObject(entry);
    });

    it('S19: causes a suppression when it replies that there is no such user', async () => {
      const to = 'nobody@known.example';
      expect(await stack.count('SELECT count(*)::int FROM suppressions WHERE email = $1', [to])).toBe(1);
      const { id } = emailIn(await stack.send({ to }));
      await until(async () => (await stack.show(id)).status === 'SUPPRESSED', 'it is suppressed');
    });

    it('is not sent emails that exceed its announced size limit', async () => {
      const { id } = emailIn(await stack.send({ html: `<p>${'x'.repeat(30_000)}</p>` }));
      const shown = await recorded(id);
      expect(shown.status).toBe('FAILED');
      expect(shown.timeline[1]).toMatchObject({
        class: 'size',
        reply: { text: expect.stringContaining('20000') },
      });
    });

    it('is asked for SMTPUTF8 where an address needs it', async () => {
      const to = `jürgen-${newRecipient()}`;
      const { id } = emailIn(await stack.send({ to }));
      expect((await recorded(id)).timeline[1]).toMatchObject({ event: 'SENT' });
      await until(() => arrivedFor(to).length > 0, 'Postfix gives it on');
    });

    it('can be stopped: emails wait without losing an attempt, and are sent once when it is back', async () => {
      await postfix.stop();
      const { id, to } = emailIn(await stack.send());
      await until(() => stack.logs.includes('ALARM'), 'the sender has noticed');
      expect((await stack.show(id)).timeline).toMatchObject([{ event: 'ACCEPTED' }]);
      expect((await stack.outboxRow(id))?.attempts).toBe(0);
      await postfix.resume();
      expect((await recorded(id)).timeline[1]).toMatchObject({ event: 'SENT', attempt: 1 });
      await until(() => arrivedFor(to).length > 0, 'Postfix gives it on');
      expect(arrivedFor(to)).toHaveLength(1);
    });
  });
}
