import { expect, it } from '@jest/globals';
import { readSettings } from './read-settings.ts';
import { SenderSettings } from './sender-settings.ts';

it('Several relays are separated by white space, in order of preference', () => {
  const urls = ['smtps://a:b,c@one.example', 'smtp://two.example:25'];
  const { sender } = readSettings({ sender: SenderSettings }, { SMTP_URL: `  ${urls.join(' \n ')} ` });
  expect(sender.relayUrls).toEqual(urls);
});

it.each([
  ['smtp://localhost:1025', false],
  ['smtp://[::1] smtp://127.0.0.1:25', false],
  ['smtp://localhost smtps://user:password@smtp.example.com', true],
  ['smtp://10.0.0.1', true],
])('A relay is elsewhere if it is not on this machine: %s', (SMTP_URL, isElsewhere) => {
  const { sender } = readSettings({ sender: SenderSettings }, { SMTP_URL });
  expect(sender.isRelayElsewhere).toBe(isElsewhere);
});
