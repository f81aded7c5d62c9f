import { describe, it } from '@jest/globals';
import { newRecipient, validEmail } from '../stack.ts';
import { type Case, casesOf, type Fault, inRawEmail, shown } from './cases.ts';
import { RefusingStack, titled } from './refusing-stack.ts';

const refusing = RefusingStack.forFile();
const refuses = (_title: string, bad: Case): Promise<void> => refusing.refuses(bad);
const ROUTE = 'POST /v1/emails';
const UNKNOWN = 'is not a known field';

/** A request to send exactly this. */
const sending = (what: string, body: unknown, names: string | RegExp): Case => ({
  what,
  route: ROUTE,
  body,
  status: 400,
  names,
});
const changed = (change: object): object => ({ ...validEmail(), ...change });
const templated = (change: object): object => ({ template: 't', to: newRecipient(), ...change });

describe('X2, S1, F1, F2: missing fields', () => {
  const without = (field: string): object => changed({ [field]: undefined });
  it.each(
    titled([
      sending('nothing at all', {}, /a raw email requires `from`, `to`, `subject` and `html`/),
      sending('nothing at all', {}, /a templated email requires `template`, `to` and.*`variables`/),
      ...['from', 'to', 'subject', 'html'].map((field) =>
        sending(`no \`${field}\``, without(field), `\`${field}\` is missing`),
      ),
      sending('a template without a recipient', { template: 'welcome' }, '`to` is missing'),
      sending('a template that is null', templated({ template: null }), '`template` is null'),
      sending(
        'a template that is not there',
        templated({}),
        '`template` names no template of this workspace',
      ),
      sending(
        'several faults',
        changed({ to: 1, subject: '', sendat: 'x' }),
        /`subject` is.*; `to` is.*; `sendat` is/,
      ),
    ]),
  )('%s', refuses);
});

describe('S1: fields of the other kind', () => {
  const ofRaw = ['from', 'fromName', 'subject', 'html', 'text', 'previewText', 'contactProperties'];
  const requires = /; a raw email requires `from`.*; a templated email requires `template`/;
  const both = sending('both kinds at once', changed({ template: 'welcome' }), requires);
  it.each(
    titled([
      sending('`variables`', changed({ variables: { a: 1 } }), '`variables` belongs to templated emails'),
      both,
      ...ofRaw.map((field) =>
        sending(`\`${field}\``, templated({ [field]: 'x' }), `\`${field}\` belongs to raw emails`),
      ),
    ]),
  )('%s', refuses);
});

describe('F3: values of the wrong type', () => {
  const values = ['true', 'false', 1, 0, null, 'yes', '', [], {}, [true]];
  const faults = values.map((value): Fault => ({ what: shown(value), value }));
  const flags = ['trackOpens', 'trackClicks'].map((name) =>
    inRawEmail(`settings.${name}`, (value) => ({ [name]: value })),
  );
  it.each(titled(casesOf(faults, flags)))('%s', refuses);
});

describe('G4: unknown fields', () => {
  const misspelt: [string, string][] = [
    ...Object.entries({
      sendat: 'sendAt',
      send_at: 'sendAt',
      SendAt: 'sendAt',
      sendAT: 'sendAt',
      sentAt: 'sendAt',
    }),
    ...Object.entries({
      reply_to: 'replyTo',
      idempotency_key: 'idempotencyKey',
      Subject: 'subject',
      subjct: 'subject',
    }),
    ...Object.entries({
      form_name: 'fromName',
      contactProprties: 'contactProperties',
      HTML: 'html',
      textt: 'text',
    }),
    ...Object.entries({ 'preview-text': 'previewText', 'group_by': 'groupBy', 'setings': 'settings' }),
  ];
  const others = [
    'from ',
    ' to',
    '',
    ' ',
    'x'.repeat(5_000),
    '<script>',
    'a\u202eb',
    '`',
    'constructor',
    'prototype',
    'toString',
    'hasOwnProperty',
    '__defineGetter__',
    'valueOf',
    '0',
    'to[]',
    'to.name',
  ];
  const elsewhere = {
    cc: 'an email has one recipient',
    bcc: 'an email has one recipient',
    headers: 'leave it out',
  };
  const withField = (name: string): object => changed({ [name]: 'x' });
  it.each(
    titled([
      ...misspelt.map(([name, meant]) =>
        sending(name, withField(name), `\`${name}\` is not a known field; did you mean \`${meant}\`?`),
      ),
      ...others.map((name) => sending(shown(name), withField(name), UNKNOWN)),
      ...Object.entries(elsewhere).map(([name, said]) => sending(name, withField(name), said)),
      ...['constructor', 'trackClick', '', 'track_opens'].map((name) =>
        sending(
          `settings.${name}`,
          changed({ settings: { [name]: true } }),
          `\`settings.${name}\` ${UNKNOWN}`,
        ),
      ),
      sending(
        'a thousand of them',
        changed(Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`field${n}`, n]))),
        '950 more fields are not known',
      ),
    ]),
  )('%s', refuses);
});
