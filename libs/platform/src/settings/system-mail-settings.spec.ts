import { describe, expect, it } from '@jest/globals';
import { readSettings } from './read-settings.ts';
import { SystemMailSettings } from './system-mail-settings.ts';

const read = (SYSTEM_FROM?: string): SystemMailSettings =>
  readSettings({ systemMail: SystemMailSettings }, { SYSTEM_FROM }).systemMail;

describe('SystemMailSettings', () => {
  it('parse the sender and its display name', () => {
    expect(read('Posthorn <mail@Bücher.example>').from).toEqual({
      name: 'Posthorn',
      address: 'mail@xn--bcher-kva.example',
    });
  });

  it('do not require a sender', () => {
    expect([read().from, read('').from]).toEqual([undefined, undefined]);
  });

  it.each(['posthorn', 'a@localhost', 'a@example.com, b@example.com', 'a@example.com\r\nBcc: b@example.com'])(
    'refuse %j, which is no mailbox',
    (text) => {
      expect(() => read(text)).toThrow('it must be one mailbox, such as `ada@example.com`');
    },
  );
});
