import { describe, expect, it } from '@jest/globals';
import { faultOfPlaceholders, insertUnsubscribeUrl } from './unsubscribe-variable.ts';

const URL = 'https://post.example/unsubscribe/x';
const inserted = (html: string): string => insertUnsubscribeUrl({ html, text: null }, URL).html;

describe('S20: the link in raw content', () => {
  it.each([
    '{{unsubscribeUrl}}',
    '{{ unsubscribeUrl }}',
    '{{{unsubscribeUrl}}}',
    '{{{ unsubscribeUrl }}}',
    '%7B%7BunsubscribeUrl%7D%7D',
    '%7b%7b%20unsubscribeUrl%20%7d%7d',
    '%7B%7B%7BunsubscribeUrl%7D%7D%7D',
  ])('is inserted for %s', (placeholder) => {
    expect(inserted(`<a href="${placeholder}">Unsubscribe</a>`)).toBe(`<a href="${URL}">Unsubscribe</a>`);
    expect(faultOfPlaceholders(placeholder.repeat(1_000))).toBeUndefined();
    expect(faultOfPlaceholders(placeholder.repeat(1_001))).toMatch(
      /^has `\{\{unsubscribeUrl\}\}` 1001 times/,
    );
  });

  it.each(['{unsubscribeUrl}', '{{unsubscribeURL}}', '{{name}}', '%7BunsubscribeUrl%7D', 'unsubscribeUrl'])(
    'is not inserted for %s',
    (other) => {
      expect(inserted(other)).toBe(other);
    },
  );

  it('is inserted into the text, too', () => {
    expect(insertUnsubscribeUrl({ html: '', text: '{{{unsubscribeUrl}}}' }, URL).text).toBe(URL);
  });

  it('leaves the content as it is if the email has no such link', () => {
    const content = { html: '{{unsubscribeUrl}}', text: null };
    expect(insertUnsubscribeUrl(content, undefined)).toBe(content);
  });
});
