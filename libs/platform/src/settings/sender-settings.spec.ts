import { expect, it } from '@jest/globals';
import { readSettings } from './read-settings.ts';
import { SenderSettings } from './sender-settings.ts';

it('Several relays are separated by white space, in order of preference', () => {
  const urls = ['smtps://a:b,c@one.example', 'smtp://two.example:25'];
  const { sender } = readSettings({ sender: SenderSettings }, { SMTP_URL: `  ${urls.join(' \n ')} ` });
  expect(sender.relayUrls).toEqual(urls);
});
