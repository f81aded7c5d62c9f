import { describe, expect, it } from '@jest/globals';
import { hash } from 'node:crypto';
import { type EmailId, uuidOf } from '@posthorn/kernel';
import { type Answer, emailIn, partIn, type ShownEmail } from './api.ts';
import { newRecipient, Stack } from './stack.ts';
import { validTemplate, templateIn } from './templates.ts';
import { DAY_MS, fromNow } from './times.ts';

interface ShownPreview {
  readonly subject: string;
  readonly html: string;
  readonly text: string;
  readonly message: string;
  readonly bytes: number;
  readonly sha256: string;
}

const stack = Stack.forTests();

function ask(id: string): Promise<Answer> {
  return stack.api().get(`/v1/emails/${id}/preview`, { key: stack.tenant.keys.viewer });
}

async function preview(id: string): Promise<ShownPreview> {
  return partIn(await ask(id), 'preview');
}

const RICH = {
  from: 'Zoë <hello@example.com>',
  subject: 'Grüße 📨',
  html: '<p>Dear <b>Ada</b>, <a href="https://example.com/x?a=1&amp;b=2">see</a></p>'.repeat(40),
  previewText: 'Soon — at your door',
  replyTo: 'Hilfe <help@example.com>',
  settings: { trackClicks: false },
};

describe('GET /v1/emails/{id}/preview', () => {
  it.each<[string, object]>([
    ['a plain', {}],
    ['a rich', RICH],
    ['a tracked', { ...RICH, settings: { trackClicks: true, trackOpens: true } }],
    ['an international', { to: `jürgen-${newRecipient()}` }],
  ])(
    'E17, S18: of %s waiting email is, byte for byte, the message that is sent, also afterwards',
    async (_what, change) => {
      const { id, to } = emailIn(await stack.send({ sendAt: fromNow(1_500), ...change }));
      const before = await preview(id);
      const mail = await stack.onlyMailTo(to);
      expect(before.message).toBe(mail.raw.toString('utf8'));
      expect(Buffer.from(before.message)).toEqual(mail.raw);
      expect(before).toMatchObject({
        bytes: mail.raw.length,
        sha256: hash('sha256', mail.raw),
      });
      expect(await preview(id)).toEqual(before);
      const { timeline } = emailIn<ShownEmail>(await stack.api().get(`/v1/emails/${id}`));
      expect(timeline.at(-1)).toMatchObject({ event: 'SENT', messageSha256: before.sha256 });
    },
  );

  it('S18, S15, S16: shows its content, with the generated parts', async () => {
    const { id } = emailIn(await stack.send({ sendAt: fromNow(DAY_MS), ...RICH }));
    const { subject, html, text } = await preview(id);
    expect(subject).toBe(RICH.subject);
    expect(html).toContain(RICH.html);
    expect(html).toContain('Soon — at your door');
    expect(text).toContain('https://example.com/x?a=1&b=2');
  });

  it('S18, S3: of a templated email is its template with its variables, as it was when it was accepted', async () => {
    const template = validTemplate();
    const { id: templateId } = templateIn(
      await stack.api().post('/v1/templates', template, { key: stack.tenant.keys.editor }),
    );
    const body = {
      template: template.name,
      to: newRecipient(),
      variables: { firstName: 'Ada & Co' },
      settings: { trackOpens: false },
    };
    const { id } = emailIn(await stack.api().post('/v1/emails', { ...body, sendAt: fromNow(2_500) }));
    await stack
      .api()
      .post(`/v1/templates/${templateId}`, { html: '<p>Other</p>' }, { key: stack.tenant.keys.editor });
    const shown = await preview(id);
    expect(shown).toMatchObject({ subject: 'Hello Ada & Co', html: '<p>Dear Ada &amp; Co</p>' });
    const mail = await stack.onlyMailTo(body.to);
    expect(shown.message).toBe(mail.raw.toString('utf8'));
  });

  it('S18: of a rescheduled email has its new time', async () => {
    const { id } = emailIn(await stack.send({ sendAt: fromNow(DAY_MS) }));
    const before = await preview(id);
    await stack.api().post(`/v1/emails/${id}`, { sendAt: fromNow(3 * DAY_MS) });
    expect((await preview(id)).message).not.toBe(before.message);
  });

  it('S18: of a cancelled email is what would have been sent', async () => {
    const { id } = emailIn(await stack.send({ sendAt: fromNow(DAY_MS) }));
    const before = await preview(id);
    await stack.api().post(`/v1/emails/${id}/cancel`, {});
    expect(await preview(id)).toEqual(before);
  });

  it('G11: shows the largest possible email, several concurrently', async () => {
    const html = 'é'.repeat(2.5 * 1_048_576);
    const { id } = emailIn(
      await stack.send({ sendAt: fromNow(DAY_MS), html, text: html.slice(0, 1_048_576) }),
    );
    const answers = await Promise.all([1, 2, 3, 4].map(() => ask(id)));
    for (const { status, body } of answers) {
      expect(status).toBe(200);
      expect((body['preview'] as ShownPreview).html.length).toBe(html.length);
    }
  });

  it('S18: is 409 when the content of the email is no longer stored; the email itself still is', async () => {
    const { id, to } = emailIn(await stack.send());
    await stack.onlyMailTo(to);
    await stack.count(
      'WITH d AS (DELETE FROM email_contents WHERE email_id = $1 RETURNING 1) SELECT count(*) FROM d',
      [uuidOf(id as EmailId)],
    );
    const answer = await ask(id);
    expect(answer.status).toBe(409);
    expect(answer.body['message']).toContain('was removed; its status and timeline are still there');
    expect(await stack.show(id)).toMatchObject({ id, status: 'SENT' });
  });
});
