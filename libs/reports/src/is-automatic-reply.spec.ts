import { expect, it } from '@jest/globals';
import { isAutomaticReply } from './is-automatic-reply.ts';

const from = (sender: string, mail: string): boolean =>
  isAutomaticReply({ sender, beginning: Buffer.from(mail) });

it.each([
  ['ada@example.net', 'Subject: unsubscribe\r\n\r\n'],
  // Apple Mail leaves the subject empty.
  ['ada@example.net', 'Subject: \r\n\r\nApple Mail sent this email to unsubscribe from the message “News”.'],
  ['ada@example.net', 'Auto-Submitted: no\r\n\r\n'],
  ['ada@example.net', 'Auto-Submitted: auto-generated\r\n\r\n'],
  ['ada@example.net', 'Subject: x\r\n\r\nAuto-Submitted: auto-replied\r\n'],
  ['ada@example.net', 'X-Auto-Submitted: auto-replied\r\n\r\n'],
  ['ada@example.net', ''],
  ['ada@example.net', '\r\n\r\n'],
  ['ada@example.net', `${'x'.repeat(100_000)}\r\n\r\n`],
])('A mail of %s that begins with %j is from a person', (sender, mail) => {
  expect(from(sender, mail)).toBe(false);
});

it.each([
  ['', 'Subject: unsubscribe\r\n\r\n'],
  ['ada@example.net', 'Subject: x\r\nAuto-Submitted: auto-replied\r\n\r\n'],
  ['ada@example.net', 'auto-submitted:AUTO-REPLIED (vacation)\n\nI am away'],
  ['ada@example.net', 'Auto-Submitted:\r\n auto-replied; owner-email="ada@example.net"\r\n\r\n'],
])('A mail of %j that begins with %j is from a program that answers another one', (sender, mail) => {
  expect(from(sender, mail)).toBe(true);
});
