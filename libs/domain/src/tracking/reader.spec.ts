import { describe, expect, it } from '@jest/globals';
import { isTooSoon, machineSign, type TrackingRequest } from './reader.ts';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';

function signOf(agent: string | undefined, change: Partial<TrackingRequest> = {}, headers: object = {}) {
  return machineSign({
    kind: 'click',
    method: 'GET',
    headers: { 'user-agent': agent, ...headers },
    ...change,
  });
}

describe('S17: who opens and clicks', () => {
  it.each([
    CHROME,
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    'Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Thunderbird/140.0',
    'Microsoft Outlook 16.0.18025',
    'Mozilla/5.0 (Linux; Android 13; CUBOT P80) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Mobile Safari/537.36',
  ])('is a person with %s', (agent) => {
    expect([signOf(agent), signOf(agent, { kind: 'open' })]).toEqual([undefined, undefined]);
  });

  it.each([
    undefined,
    '',
    'Mozilla/5.0',
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Barracuda Sentinel (EE)',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'python-requests/2.32.0',
    `${CHROME.replace('Chrome', 'HeadlessChrome')}`,
    'curl/8.5.0',
  ])('is a program with %j', (agent) => {
    expect([signOf(agent), signOf(agent, { kind: 'open' })]).toEqual(['user_agent', 'user_agent']);
  });

  it.each([
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
  ])('is a person whose images are loaded by the proxy %s', (agent) =>
    expect(signOf(agent, { kind: 'open' })).toBeUndefined(),
  );

  it('is a program if it announces a prefetch, or uses another method than GET', () => {
    for (const header of ['purpose', 'sec-purpose', 'x-moz', 'x-purpose'])
      expect(signOf(CHROME, {}, { [header]: 'prefetch;prerender' })).toBe('prefetch');
    expect(signOf(CHROME, { method: 'HEAD' })).toBe('method');
  });

  it('is not a person within two seconds, or during the transmission', () => {
    const sentAt = new Date(1_000_000);
    const after = (ms: number): Date => new Date(sentAt.getTime() + ms);
    expect([0, 1_999, 2_000].map((ms) => isTooSoon(after(ms), sentAt, sentAt))).toEqual([true, true, false]);
    expect([0, 599_999, 600_000].map((ms) => isTooSoon(after(ms), null, sentAt))).toEqual([
      true,
      true,
      false,
    ]);
  });
});
