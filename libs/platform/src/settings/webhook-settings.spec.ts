import { describe, expect, it } from '@jest/globals';
import { faultInWebhookHost } from '@posthorn/domain';
import { readSettings, SettingsError } from './read-settings.ts';
import { WebhookSettings } from './webhook-settings.ts';

const read = (env: Record<string, string>): WebhookSettings =>
  readSettings({ webhooks: WebhookSettings }, env).webhooks;

describe('W1: the allowed targets of webhooks', () => {
  it('are HTTPS URLs of public hosts by default', () => {
    const { policy } = read({});
    expect(policy).toEqual({ allowsHttp: false, networks: [] });
    expect(faultInWebhookHost('https://example.com/', policy)).toBeUndefined();
    expect(faultInWebhookHost('https://10.0.0.1/', policy)).toContain('which is not public');
  });

  it('can be extended by addresses and ranges', () => {
    const { policy } = read({
      WEBHOOK_ALLOW_HTTP: 'true',
      WEBHOOK_ALLOWED_NETWORKS: '127.0.0.0/8, ::1,10.0.0.0/8',
    });
    for (const host of ['localhost', '[::1]', '10.255.0.1'])
      expect(faultInWebhookHost(`http://${host}:4000/`, policy)).toBeUndefined();
    expect(faultInWebhookHost('https://192.168.0.1/', policy)).toContain('which is not public');
  });

  it.each([
    ['WEBHOOK_ALLOWED_NETWORKS', 'localhost'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/33'],
    ['WEBHOOK_ALLOWED_NETWORKS', '10.0.0.0/8,'],
    ['WEBHOOK_ALLOW_HTTP', 'yes'],
  ])('prevent the start of the process when %s is %s', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(SettingsError);
  });
});
