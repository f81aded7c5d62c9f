import { expect, it } from '@jest/globals';
import { newId } from '@posthorn/kernel';
import { sourcePage } from './source-page.ts';

it('A large source is cut between two characters', () => {
  const body = `${'x'.repeat(256 * 1024 - 1)}😀`;
  const message = `Subject: Hello\r\n\r\n${body}`;
  const preview = { subject: 'Hello', html: '', text: body, message, bytes: message.length, sha256: '' };
  const { text } = sourcePage(newId('trs', 0), preview);
  expect(text).toContain('The first 262144 characters.');
  expect(text.isWellFormed()).toBe(true);
});
