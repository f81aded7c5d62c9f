import { describe, expect, it } from '@jest/globals';
import { RateSettings } from './rate-settings.ts';
import { readSettings, SettingsError } from './read-settings.ts';

function read(env: Record<string, string>): RateSettings {
  return readSettings({ rates: RateSettings }, env).rates;
}

describe('RateSettings', () => {
  it('R1: default to 100 requests a second with a burst of 200, 20 failed authentications a minute, and no trusted proxy', () => {
    expect(read({}).options).toEqual({
      requestsPerSecond: 100,
      burst: 200,
      failuresPerMinute: 20,
      trustedProxies: [],
    });
  });

  it('R1: name trusted proxies as addresses and ranges', () => {
    const ranges = read({ TRUSTED_PROXIES: '10.0.0.0/8, 192.0.2.7,fd00::/8' }).options.trustedProxies;
    expect(ranges.map(([address, bits]) => `${String(address)}/${bits}`)).toEqual([
      '10.0.0.0/8',
      '192.0.2.7/32',
      'fd00::/8',
    ]);
  });

  it.each(['proxy.local', '10.0.0.0/33', '10.0.0.0/8,', '10.0.0.0/8 fd00::/8', '10'])(
    'R1: refuse proxies %j at the start',
    (TRUSTED_PROXIES) => {
      expect(() => read({ TRUSTED_PROXIES })).toThrow(SettingsError);
      expect(() => read({ TRUSTED_PROXIES })).toThrow(
        'it must be addresses or ranges such as 10.0.0.0/8, with commas between them',
      );
    },
  );
});
