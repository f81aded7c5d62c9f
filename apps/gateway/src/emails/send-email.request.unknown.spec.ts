import { describe, expect, it } from '@jest/globals';
import { shapeOf } from '../validation/shape.ts';
import { messageFor, RAW, refusalOf, TEMPLATED } from './send-email.request.fixture.ts';
import { RawEmailRequest, TemplatedEmailRequest } from './send-email.request.ts';

const namesOf = (request: new () => object): string =>
  shapeOf(request)
    .names.map((name) => `\`${name}\``)
    .join(', ');
const IN_RAW = namesOf(RawEmailRequest);
const IN_TEMPLATED = namesOf(TemplatedEmailRequest);

const BOTH_REQUIRE =
  '; a raw email requires `from`, `to`, `subject` and `html`; a templated email requires `template`, `to` and, for what its template prints without a default, `variables`';

describe('G4: an unknown field', () => {
  it.each([
    ['sendat', 'sendAt'],
    ['send_at', 'sendAt'],
    ['SendAt', 'sendAt'],
    ['reply-to', 'replyTo'],
    ['replyto', 'replyTo'],
    ['subjct', 'subject'],
    ['fromname', 'fromName'],
    ['idempotency_key', 'idempotencyKey'],
    ['idempotncyKey', 'idempotencyKey'],
    ['contactPropertys', 'contactProperties'],
    ['setting', 'settings'],
    ['htlm', 'html'],
  ])('%s is named with what was probably meant', (name, meant) => {
    expect(messageFor({ ...RAW, [name]: 'x' })).toBe(
      `\`${name}\` is not a known field; did you mean \`${meant}\`?`,
    );
  });

  it.each([
    ...['colour', 'MessageStream', 'deliverAt', 'x', ''],
    ...['constructor', 'toString', 'hasOwnProperty', 'validate'],
  ])('%j is named, with all that there are', (name) => {
    const unknown = `\`${name}\` is not a known field`;
    expect(messageFor({ ...RAW, [name]: 'x' })).toBe(`${unknown}; there are ${IN_RAW}`);
    expect(messageFor({ ...TEMPLATED, [name]: 'x' })).toBe(`${unknown}; there are ${IN_TEMPLATED}`);
  });

  it('among several that are close to no known one makes the list of known ones appear once', () => {
    expect(messageFor({ ...RAW, colour: 'x', sendat: 'x', weight: 'x' })).toBe(
      `\`colour\` is not a known field; \`sendat\` is not a known field; did you mean \`sendAt\`?; \`weight\` is not a known field; there are ${IN_RAW}`,
    );
  });

  it.each([
    ['HtmlBody', 'html'],
    ['TextBody', 'text'],
    ['Tag', 'groupBy'],
    ['tags', 'groupBy'],
    ['categories', 'groupBy'],
    ['scheduled_at', 'sendAt'],
    ['reply_to', 'replyTo'],
    ['TrackOpens', 'settings.trackOpens'],
    ['trackClicks', 'settings.trackClicks'],
    ['TrackLinks', 'settings.trackClicks'],
    ['unsubscribe', 'settings.unsubscribe'],
    ['sender', 'from'],
    ['FromEmailAddress', 'from'],
    ['htmlContent', 'html'],
    ['content', 'html'],
    ['reply_to_list', 'replyTo'],
    ['asm', 'settings.unsubscribe'],
    ['topic_id', 'settings.unsubscribe'],
    ['o:tag', 'groupBy'],
    ['o:deliverytime', 'sendAt'],
    ['o:tracking-clicks', 'settings.trackClicks'],
    ['o:tracking-opens', 'settings.trackOpens'],
    ['h:Reply-To', 'replyTo'],
  ])('%s of another service is named with what stands for it here', (name, ours) => {
    expect(messageFor({ ...RAW, [name]: 'x' })).toBe(
      `\`${name}\` is not a known field; did you mean \`${ours}\`?`,
    );
  });

  it.each(['TemplateAlias', 'template_id', 'templateId', 'templateName'])(
    '%s of another service is named with `template`, whose absence made the email a raw one',
    (name) => {
      expect(messageFor({ [name]: 'x', to: 'a@b.co' })).toContain(
        `\`${name}\` is not a known field; did you mean \`template\`?`,
      );
    },
  );

  it('makes an email without `html` a templated one if it is the name of the template at another service', () => {
    const { message } = refusalOf({
      From: 'shop@example.com',
      To: 'ada@example.com',
      TemplateAlias: 'welcome',
      TemplateModel: {},
    });
    expect(message.split('; ').slice(0, 3)).toEqual([
      '`template` is missing',
      'give a string',
      '`to` is missing',
    ]);
    expect(message).toContain(
      'did you mean `template`?; `TemplateModel` is not a known field; did you mean `variables`?',
    );
    expect(messageFor({ ...RAW, TemplateId: null })).not.toContain('is missing');
  });

  it('is not looked for in a template that is an object with its variables: that is another service’s form', () => {
    const template = { id: 'welcome', variables: { name: 'Ada' } };
    expect(messageFor({ to: 'a@b.co', template })).toBe(
      `\`template\` is an object; give the name of the template as a string, and \`variables\` beside it${BOTH_REQUIRE}`,
    );
  });

  it('of another service is not mapped to a field of the other kind of email', () => {
    const { to } = TEMPLATED;
    expect(messageFor({ template: 'a', to, TemplateModel: {} })).toMatch(/; did you mean `variables`\?$/);
    expect(messageFor({ ...RAW, TemplateModel: {} })).toMatch(
      /^`TemplateModel` is not a known field; there are /,
    );
    expect(messageFor({ 'template': 'a', to, 't:variables': {} })).toMatch(/; did you mean `variables`\?$/);
    expect(messageFor({ ...TEMPLATED, HtmlBody: 'x' })).toMatch(
      /^`HtmlBody` is not a known field; there are /,
    );
  });

  it.each([
    ['cc', 'one recipient'],
    ['Bcc', 'one recipient'],
    ['headers', '`settings.unsubscribe`'],
    ['inReplyTo', 'leave it out'],
    ['personalizations', 'send each their own'],
    ['Metadata', 'store the id'],
    ['custom_args', 'store the id'],
    ['v:order-id', 'store the id'],
    ['h:X-Entity-Ref-ID', 'leave it out'],
    ['recipient-variables', 'send each their own'],
  ])('%s, which is not supported, is answered with what to do instead', (name, instead) => {
    for (const email of [RAW, TEMPLATED])
      expect(messageFor({ ...email, [name]: [] })).toMatch(
        new RegExp(`^\`${name}\` is not supported: .*${instead}`),
      );
  });

  it('is found even when it is called __proto__, and changes no prototype', () => {
    expect(messageFor(JSON.parse(`{"__proto__":{"html":"x"},"to":"a@b.co"}`))).toMatch(
      /`__proto__` is not a known field/,
    );
  });

  it('inside the settings is named by its path', () => {
    expect(messageFor({ ...RAW, settings: { trackOpen: true } })).toBe(
      '`settings.trackOpen` is not a known field; did you mean `trackOpens`?',
    );
    expect(messageFor({ ...RAW, settings: { tracking: true } })).toBe(
      '`settings.tracking` is not a known field; there are `settings.trackClicks`, `settings.trackOpens`, `settings.unsubscribe`',
    );
  });

  it.each(['from', 'fromName', 'subject', 'html', 'text', 'previewText', 'contactProperties'])(
    '%s of a raw email is refused in a templated one',
    (name) => {
      expect(messageFor({ ...TEMPLATED, [name]: 'x' })).toBe(
        `\`${name}\` belongs to raw emails, and an email with \`template\` is templated; leave one of the two out${BOTH_REQUIRE}`,
      );
    },
  );

  it('variables of a templated email are refused in a raw one', () => {
    expect(messageFor({ ...RAW, variables: {} })).toBe(
      `\`variables\` belongs to templated emails; name a \`template\` or leave it out${BOTH_REQUIRE}`,
    );
  });

  it.each([null, '', 0])('makes an email templated if it is template, even as %j', (template) => {
    expect(messageFor({ ...RAW, template })).toMatch(/^`template` is .*`html` belongs to raw emails/);
  });

  it('is named with all others, of which any may be the one that matters', () => {
    const names = Array.from({ length: 50 }, (_, index) => `field${index}`);
    const message = messageFor({ ...RAW, ...Object.fromEntries(names.map((name) => [name, 1])) });
    for (const name of names) expect(message).toContain(`\`${name}\` is not a known field`);
  });

  it('is counted when there are too many to name', () => {
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`field${index}`, 1]));
    expect(messageFor({ ...RAW, ...many })).toMatch(/; 1 more field is not known/);
  });

  it('does not make the answer grow with its length', () => {
    const many = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`field number ${index}`, 1]),
    );
    expect(messageFor({ ...RAW, ...many })).toMatch(/; 9950 more fields are not known/);
    expect(messageFor({ ...RAW, ...many }).length).toBeLessThan(5_000);
    expect(messageFor({ ...RAW, ['x\r\n`'.repeat(100_000)]: 1 })).toMatch(
      /^`(x���){15}…` is not a known field/,
    );
  });
});
