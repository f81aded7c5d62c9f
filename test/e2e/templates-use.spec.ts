import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Answer, type Api, emailIn, statusesOf } from './api.ts';
import { decoded, headerValues, parseMail, withLf } from './mail.ts';
import { newRecipient, Stack, until } from './stack.ts';
import { createTemplate, type ShownTemplate } from './templates.ts';

const stack = Stack.forTests();
let editor: Api;
beforeAll(() => {
  editor = stack.apiAs(stack.tenant.keys.editor);
});

const create = (change: Record<string, unknown> = {}) => createTemplate(editor, change);
/** Untracked, because these tests are about the content of templates. */
const send = (change: Record<string, unknown>): Promise<Answer> =>
  stack.api().post('/v1/emails', { to: newRecipient(), settings: UNTRACKED, ...change });
const UNTRACKED = { trackClicks: false, trackOpens: false };
const preview = (id: string, body: unknown): Promise<Answer> =>
  editor.post(`/v1/templates/${id}/preview`, body, { key: stack.tenant.keys.viewer });

/** Sends an email of the template and reads what arrives. */
async function deliver({ name }: ShownTemplate, variables?: object, more: Record<string, unknown> = {}) {
  const { to } = emailIn(await send({ template: name, ...(variables && { variables }), ...more }));
  const message = await stack.onlyMailTo(to);
  return { message, mail: await parseMail(message) };
}

const GREETING = {
  subject: 'Hello {{name}}',
  html: '<body><p>Dear {{name}}, {{{raw}}} {{#each items}}<i>{{@index}}:{{this}}</i>{{/each}}</p></body>',
  text: 'Dear {{name}}',
  previewText: 'For {{name}}',
  fromName: 'The Shop',
  replyTo: ['help@example.com', 'Ada <ada@example.com>'],
  defaults: { raw: '<hr>' },
};

/** Ninety million tests of a variable: it prints nothing, so only the deadline ends it. */
const ENDLESS = { subject: 's', html: `{{#each l}}${'{{#if a}}{{/if}}'.repeat(900)}{{/each}}` };
const ENDLESS_VARIABLES = { l: Array.from({ length: 100_000 }, () => 0) };

describe('POST /v1/emails of a template', () => {
  it('S4: an error says that the sender of the template is not verified, since the call has none', async () => {
    const { name } = await create({ from: 'ada@other.example' });
    const refused = await send({ template: name, variables: { firstName: 'Ada' } });
    expect([refused.status, refused.body['message']]).toEqual([
      400,
      `\`from\` of the template "${name}" is ada@other.example, which is neither a verified address nor on a verified domain of this workspace; ` +
        'give the template one of those listed, or verify this one first',
    ]);
    expect(refused.body['allowedDomains']).toEqual(['example.com']);
  });

  describe('200', () => {
    it('F4, S1: the answer has the template and neither sender nor subject', async () => {
      const { name } = await create(GREETING);
      const answer = await send({ template: name, variables: { name: 'Ada' }, groupBy: 'g' });
      expect(emailIn(answer)).toEqual({
        id: expect.any(String),
        messageId: expect.any(String),
        to: expect.any(String),
        status: 'SENT',
        type: 'templated',
        template: name,
        groupBy: 'g',
      });
      expect(Object.keys(emailIn(answer))).not.toContain('from');
    });

    it('S3: the arriving mail is the template with the variables, escaped only in the HTML', async () => {
      const template = await create(GREETING);
      const { message, mail } = await deliver(template, { name: `<b>"Tom" & 'Jo'</b>`, items: ['a', '<'] });
      expect(mail.subject).toBe(`Hello <b>"Tom" & 'Jo'</b>`);
      expect(mail.from).toMatchObject({ address: 'shop@example.com', name: 'The Shop' });
      expect(headerValues(message, 'Reply-To')).toEqual(['help@example.com, Ada <ada@example.com>']);
      const name = '&lt;b&gt;&quot;Tom&quot; &amp; &#x27;Jo&#x27;&lt;/b&gt;';
      expect(decoded(mail.html)).toContain(`<p>Dear ${name}, <hr> <i>0:a</i><i>1:&lt;</i></p>`);
      expect(decoded(mail.text)).toBe(`Dear <b>"Tom" & 'Jo'</b>`);
    });

    it('S15: the preview text is rendered, and hidden at the start of the body', async () => {
      const { mail } = await deliver(await create(GREETING), { name: 'Tom & Jo' });
      expect(decoded(mail.html)).toMatch(
        /^<body><div style="display:none[^>]*>For Tom &amp; Jo(&#847;&zwnj;&nbsp;)+<\/div><p>/,
      );
    });

    it('S16: a missing text is made from the rendered HTML, with its links', async () => {
      const template = await create({
        html: '<p>Hi {{name}}</p><a href="{{url}}">Pay</a>',
        previewText: 'Hidden',
      });
      const { mail } = await deliver(template, {
        name: 'Jo & Co',
        firstName: 'x',
        url: 'https://example.com/?a=1&b=2',
      });
      expect(withLf(decoded(mail.text))).toBe('Hi Jo & Co\n\nPay ( https://example.com/?a=1&b=2 )');
    });

    it('S2: `variables` may be left out where the template prints nothing without a default', async () => {
      const template = await create({
        subject: 'Hi {{name}}',
        html: '{{#if coupon}}{{coupon}}{{else}}none{{/if}}{{#each items}}{{price}}{{/each}}{{#with user}}{{city}}{{/with}}{{default nick "you"}}',
        defaults: { name: 'friend' },
      });
      expect(template.requiredVariables).toEqual([]);
      const { mail } = await deliver(template);
      expect([mail.subject, decoded(mail.html)]).toEqual(['Hi friend', 'noneyou']);
    });

    it('S2: an empty text, 0 and false are values; null uses the default', async () => {
      const template = await create({
        subject: 's',
        html: '[{{a}}|{{b}}|{{c}}|{{d}}]',
        defaults: { d: 'default' },
      });
      const { mail } = await deliver(template, { a: '', b: 0, c: false, d: null });
      expect(decoded(mail.html)).toBe('[|0|false|default]');
    });

    it('S7: `replyTo` of the email replaces that of the template', async () => {
      const { message } = await deliver(
        await create(GREETING),
        { name: 'Ada' },
        { replyTo: 'other@example.com' },
      );
      expect(headerValues(message, 'Reply-To')).toEqual(['other@example.com']);
    });

    it('S3: no variable can add a header or a line to the subject', async () => {
      const { message, mail } = await deliver(await create(GREETING), {
        name: 'Ada\r\nBcc: eve@example.com\r\n\r\nx',
      });
      expect(mail.subject).toBe('Hello Ada Bcc: eve@example.com x');
      expect(headerValues(message, 'Bcc')).toEqual([]);
    });

    it('S3: inherited properties cannot be reached, whatever the keys of the variables are', async () => {
      const html =
        '{{constructor.name}}|{{toString}}|{{lookup this "valueOf"}}|{{#each list}}{{constructor}}{{/each}}|{{[a"\\\\]}}|{{é}}';
      const template = await create({ subject: 's', html, defaults: { toString: 'own' } });
      const keys = {
        'constructor': { name: 'mine' },
        'valueOf': 'value',
        'a"\\': 'quoted',
        'é': 'accent',
        'list': [{}],
      };
      const { mail } = await deliver(template, keys);
      expect(decoded(mail.html)).toBe('mine|own|value||quoted|accent');
    });

    it('S3: an object is iterated in the order in which it was written', async () => {
      const template = await create({ subject: 's', html: '{{#each prices}}{{@key}}={{this}};{{/each}}' });
      const { mail } = await deliver(template, { prices: { zebra: 1, b: 2, aardvark: 3 } });
      expect(decoded(mail.html)).toBe('zebra=1;b=2;aardvark=3;');
    });

    it('S3: an email keeps the version that was current when it was accepted', async () => {
      const template = await create({ subject: 's', html: 'one' });
      const sendAt = new Date(Date.now() + 3_000).toISOString();
      const { to } = emailIn(await send({ template: template.name, sendAt }));
      await editor.post(`/v1/templates/${template.id}`, { html: 'two' });
      expect(decoded((await deliver(template)).mail.html)).toBe('two');
      await editor.request('DELETE', `/v1/templates/${template.id}`, undefined);
      expect((await send({ template: template.name })).status).toBe(400);
      expect(decoded((await parseMail(await stack.onlyMailTo(to))).html)).toBe('one');
    });

    it('S12: raw and templated emails may be mixed in one batch', async () => {
      const { name } = await create({ subject: 's', html: '{{n}}' });
      const recipients = Array.from({ length: 40 }, newRecipient);
      const emails = recipients.map((to, n) =>
        n % 2
          ? { to, template: name, variables: { n: n }, settings: UNTRACKED }
          : { to, from: 'a@example.com', subject: 's', html: String(n) },
      );
      expect((await stack.api().post('/v1/emails/batch', { emails })).body).toMatchObject({
        emails: { failed: [] },
      });
      for (const [n, to] of recipients.entries())
        expect(decoded((await parseMail(await stack.onlyMailTo(to))).html)).toBe(String(n));
    });

    it('S3: one that becomes too large fails with its reason, and affects no other', async () => {
      const template = await create({
        subject: 's',
        html: '{{#each l}}{{#each @root.l}}{{#each @root.l}}x{{/each}}{{/each}}{{/each}}',
      });
      const { id } = emailIn(
        await send({ template: template.name, variables: { l: Array.from({ length: 300 }, () => 0) } }),
      );
      await deliver(await create({ subject: 's', html: 'fine' }));
      await until(async () => (await stack.show(id)).status === 'FAILED', 'the email is given up');
      expect((await stack.show(id)).timeline.at(-1)).toMatchObject({
        event: 'FAILED',
        reason: 'rendering_too_large',
        error: '`html` runs its loops more than 500000 times',
      });
    });

    it('S3: one that would render for ever ends at its deadline and is tried again later; others are sent meanwhile', async () => {
      const { name: template } = await create(ENDLESS);
      const ids = await Promise.all(
        [1, 2, 3].map(async () => emailIn(await send({ template, variables: ENDLESS_VARIABLES })).id),
      );
      await deliver(await create({ subject: 's', html: 'fine' }));
      for (const id of ids) {
        await until(async () => (await stack.show(id)).timeline.length > 1, 'the rendering is ended');
        expect((await stack.show(id)).timeline.at(-1)).toMatchObject({
          event: 'DELAYED',
          reason: 'rendering_deadline',
          retryAfterSeconds: 60,
        });
      }
    });

    it('S3: one whose subject becomes too long fails with its reason', async () => {
      const template = await create({ subject: '{{a}}', html: 'x' });
      const { id } = emailIn(await send({ template: template.name, variables: { a: 'x'.repeat(999) } }));
      await until(async () => (await stack.show(id)).status === 'FAILED', 'the email is given up');
      expect((await stack.show(id)).timeline.at(-1)).toMatchObject({
        reason: 'rendering_too_large',
        error: '`subject` becomes more than 998 characters',
      });
    });
  });

  describe('400', () => {
    it('S2: names all the variables that are missing', async () => {
      const { name } = await create({
        subject: '{{a}}',
        html: '{{user.name}} {{c}}',
        text: '{{[odd name]}}',
        defaults: { c: 1 },
      });
      const answer = await send({ template: name, variables: { a: null, user: {} } });
      expect(answer.status).toBe(400);
      for (const missing of ['`variables.a`', '`variables.user.name`', '`variables.[odd name]`'])
        expect(answer.body['message']).toContain(missing);
      expect(answer.body['message']).toContain(
        ` are missing or null: the template "${name}" prints them and has no default; give them a value`,
      );
      expect(answer.body['message']).not.toContain('variables.c');
      expect((await send({ template: name })).status).toBe(400);
    });

    it('S2: names them all, however many are missing', async () => {
      const names = Array.from({ length: 1_000 }, (_, at) => `v${at}`);
      const { name } = await create({
        subject: 's',
        html: names.map((variable) => `{{${variable}}}`).join(''),
      });
      const answer = await send({ template: name });
      expect(answer.status).toBe(400);
      expect(answer.body['message']).toContain(
        `${names.map((variable) => `\`variables.${variable}\``).join(', ')} are missing or null`,
      );
    });

    it('an unknown template, and one of another workspace', async () => {
      const other = await stack.createTenant('Other');
      const { name } = await createTemplate(editor, {}, other.keys.editor);
      const answers = [
        await send({ template: name, variables: { firstName: 'x' } }),
        await send({ template: 'none' }),
      ];
      expect(statusesOf(answers)).toEqual([400, 400]);
      expect(answers[0]!.body['message']).toContain(name);
    });
  });
});

describe('POST /v1/templates/{template_id}/preview', () => {
  describe('200', () => {
    it('S3: shows the content of an email, to every role that may read', async () => {
      const { id } = await create(GREETING);
      const answer = await preview(id, { variables: { name: '<Ada>', items: ['a'] } });
      expect(answer.body).toEqual({
        subject: 'Hello <Ada>',
        html: expect.stringMatching(
          /^<body><div style="display:none[^>]*>For &lt;Ada&gt;.*<\/div><p>Dear &lt;Ada&gt;, <hr> <i>0:a<\/i><\/p><\/body>$/,
        ),
        text: 'Dear <Ada>',
        previewText: 'For <Ada>',
      });
    });

    it('S16: the text is made from the HTML where the template has none', async () => {
      const { id } = await create({ subject: 's', html: '<p>Hi {{name}}</p>', defaults: { name: 'you' } });
      expect((await preview(id, {})).body).toEqual({
        subject: 's',
        html: '<p>Hi you</p>',
        text: 'Hi you',
        previewText: null,
      });
    });

    it('S3: shows an earlier version', async () => {
      const { id } = await create({ subject: 's', html: 'one' });
      await editor.post(`/v1/templates/${id}`, { html: 'two' });
      expect((await preview(id, { version: 1 })).body).toMatchObject({ html: 'one' });
      expect((await preview(id, { version: 2 })).body).toMatchObject({ html: 'two' });
      expect((await preview(id, {})).body).toMatchObject({ html: 'two' });
    });

    it('previews of disconnected callers delay nobody', async () => {
      const slow = await create(ENDLESS);
      const quick = await create({ subject: 's', html: 'fine' });
      const path = `${stack.api().url}/v1/templates/${slow.id}/preview`;
      const request = {
        method: 'POST',
        headers: {
          'authorization': `Bearer ${stack.tenant.keys.viewer}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ variables: ENDLESS_VARIABLES }),
      };
      /** Whether all have hung up before they were answered: on a machine that stands still, the first deadlines may pass meanwhile. */
      const hangUp = async (): Promise<boolean> => {
        const caller = new AbortController();
        const gone = Array.from({ length: 26 }, () => fetch(path, { ...request, signal: caller.signal }));
        await sleep(500);
        caller.abort();
        return (await Promise.allSettled(gone)).every(({ status }) => status === 'rejected');
      };
      await until(hangUp, 'all callers hang up');
      // One after the other in two threads, the previews would take more than a minute.
      const shown = await preview(quick.id, {});
      expect([shown.status, shown.durationMs < 40_000]).toEqual([200, true]);
    });
  });

  it('400, S2: names all the variables that are missing', async () => {
    const { id } = await create(GREETING);
    const answer = await preview(id, { variables: {} });
    expect([answer.status, answer.body['message']]).toEqual([
      400,
      expect.stringContaining('`variables.name`'),
    ]);
  });

  it('400: an unknown version', async () => {
    const { id } = await create(GREETING);
    const answer = await preview(id, { variables: { name: 'x' }, version: 7 });
    expect([answer.status, answer.body['message']]).toEqual([
      400,
      '`version` is 7; the template has the versions 1 to 1',
    ]);
    expect((await preview(id, { version: 0 })).status).toBe(400);
    expect((await preview(id, { version: '1' })).status).toBe(400);
  });

  it('400, S3: a result that is too large; the message names the part', async () => {
    const { id } = await create({ subject: '{{a}}', html: 'x' });
    const answer = await preview(id, { variables: { a: 'x'.repeat(999) } });
    expect([answer.status, answer.body['message']]).toEqual([
      400,
      expect.stringContaining('`subject` becomes more than 998 characters'),
    ]);
  });

  it('503, G2: one that exceeds its deadline, as any can on an overloaded machine', async () => {
    const { id } = await create(ENDLESS);
    const answer = await preview(id, { variables: ENDLESS_VARIABLES });
    expect([answer.status, answer.headers.get('retry-after'), answer.body['message']]).toEqual([
      503,
      '30',
      expect.stringContaining('took longer than 5000 ms'),
    ]);
  });
});

describe('POST /v1/templates/{template_id}/test', () => {
  const test = (id: string, body: unknown) =>
    editor.post(`/v1/templates/${id}/test`, body, { key: stack.tenant.keys.apiUser });

  it('200: sends one email of the template, and answers as sending does', async () => {
    const template = await create(GREETING);
    const to = newRecipient();
    const email = emailIn(await test(template.id, { to: `Ada <${to}>`, variables: { name: 'Ada' } }));
    expect(email).toMatchObject({ status: 'SENT', type: 'templated', template: template.name, to });
    expect((await parseMail(await stack.onlyMailTo(to))).subject).toBe('Hello Ada');
  });

  it('400, S2: names all the variables that are missing', async () => {
    const { id } = await create(GREETING);
    const answer = await test(id, { to: newRecipient() });
    expect([answer.status, answer.body['message']]).toEqual([
      400,
      expect.stringContaining('`variables.name`'),
    ]);
  });
});

const CORPUS = new URL('../corpus/email-templates/', import.meta.url);
const NAMES = [
  'comment-notification',
  'dunning',
  'example',
  'invoice',
  'password-reset',
  'password-reset-help',
  'receipt',
  'trial-expired',
  'trial-expiring',
  'user-invitation',
  'welcome',
];
const LISTS = {
  receipt_details: [{ description: 'Tea & cake', amount: '5 €' }],
  invoice_details: [{ description: 'Tea & cake', amount: '5 €' }],
  attachment_details: { attachment_name: 'plan.pdf', attachment_url: 'https://example.com/plan.pdf' },
};

describe('the templates of the corpus', () => {
  it.each(NAMES)('S3: %s works as it is, from saving to the inbox', async (name) => {
    const file = (part: string) => readFileSync(new URL(`${name}/content.${part}`, CORPUS), 'utf8');
    const template = await create({ name, subject: `About ${name}`, html: file('html'), text: file('txt') });
    const given = Object.fromEntries(
      template.requiredVariables.map((path, n) => [path, `value ${n} & more`]),
    );
    const variables = { ...given, ...LISTS };
    const { mail } = await deliver(template, variables);
    const shown = (await preview(template.id, { variables })).body as { html: string; text: string };
    expect([decoded(mail.html), decoded(mail.text)]).toEqual([withLf(shown.html), withLf(shown.text)]);
    for (const value of Object.values(given)) {
      expect(`${mail.html}${mail.text}`).toMatch(new RegExp(`${value}|${value.replace('&', '&amp;')}`));
    }
    const [inText] = /receipt|invoice/.test(name) ? ['Tea & cake'] : ['value 0 & more'];
    expect(decoded(mail.text)).toContain(inText);
  });
});
