import { describe, expect, it } from '@jest/globals';
import { toDraft } from './email-draft.ts';
import { validateEmailRequest } from './validate-email-request.ts';

const RAW = { from: 'Shop <shop@EXAMPLE.com>', to: 'ada@example.com', subject: 'Hello', html: '<p>Hi</p>' };
const TEMPLATED = { template: 'welcome', to: 'Ada <ada@example.com>' };
const draftOf = (body: unknown) => toDraft(validateEmailRequest(body));

describe('the draft of an email', () => {
  it('has the defaults of a raw email', () => {
    expect(draftOf(RAW)).toEqual({
      type: 'raw',
      from: { address: 'shop@example.com', name: 'Shop' },
      to: { address: 'ada@example.com' },
      subject: 'Hello',
      html: '<p>Hi</p>',
      replyTo: [],
      trackClicks: true,
      trackOpens: false,
      fingerprintSource: RAW,
    });
  });

  it('has the defaults of a templated email', () => {
    expect(draftOf(TEMPLATED)).toEqual({
      type: 'templated',
      template: 'welcome',
      variables: {},
      to: { address: 'ada@example.com', name: 'Ada' },
      trackClicks: true,
      trackOpens: true,
      fingerprintSource: TEMPLATED,
    });
  });

  it('carries over all given fields', () => {
    const more = {
      text: 'Hello',
      previewText: 'Soon',
      contactProperties: { a: 1 },
      groupBy: 'g',
      sendAt: '2030-01-01T00:00:00Z',
    };
    expect(draftOf({ ...RAW, ...more, idempotencyKey: 'k' })).toMatchObject({ ...more, idempotencyKey: 'k' });
  });

  it('treats an empty text as absent, so that one is generated from the HTML', () => {
    expect(draftOf({ ...RAW, text: '' })).toMatchObject({ text: undefined });
  });

  it('excludes the idempotency key from the comparison of two requests', () => {
    expect(draftOf({ ...RAW, idempotencyKey: 'k' }).fingerprintSource).toEqual(RAW);
    expect(draftOf({ ...TEMPLATED, idempotencyKey: 'k' }).fingerprintSource).toEqual(TEMPLATED);
  });

  it.each([
    ['shop@example.com', 'The Shop'],
    ['Shop <shop@example.com>', 'The Shop'],
  ])('lets fromName win over the name in %s', (from, fromName) => {
    expect(draftOf({ ...RAW, from, fromName })).toMatchObject({
      from: { address: 'shop@example.com', name: fromName },
    });
  });

  it.each([
    ['a@b.co', [{ address: 'a@b.co' }]],
    [
      ['a@b.co', 'C <c@d.co>'],
      [{ address: 'a@b.co' }, { address: 'c@d.co', name: 'C' }],
    ],
  ])('reads replyTo in both forms, for both kinds', (replyTo, mailboxes) => {
    expect(draftOf({ ...RAW, replyTo }).replyTo).toEqual(mailboxes);
    expect(draftOf({ ...TEMPLATED, replyTo }).replyTo).toEqual(mailboxes);
  });

  it.each([
    [{}, RAW, true, false],
    [{ trackClicks: false }, RAW, false, false],
    [{ trackOpens: true }, RAW, true, true],
    [{}, TEMPLATED, true, true],
    [{ trackOpens: false, trackClicks: false }, TEMPLATED, false, false],
  ])('takes the settings %j as they are', (settings, body, trackClicks, trackOpens) => {
    expect(draftOf({ ...body, settings })).toMatchObject({ trackClicks, trackOpens });
  });

  it('omits an empty preview', () => {
    expect(draftOf({ ...RAW, previewText: '' })).toMatchObject({ previewText: undefined });
  });
});
