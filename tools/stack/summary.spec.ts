import { describe, expect, it } from '@jest/globals';
import { summary } from './summary.mjs';

const STACK = {
  apiUrl: 'http://127.0.0.1:3000',
  publicUrl: 'http://127.0.0.1:3000',
  dashboardUrl: 'http://127.0.0.1:3001',
  inbox: { smtpUrl: 'smtp://127.0.0.1:1025', webUrl: 'http://127.0.0.1:8025' },
  workspaceId: 'wrk_1',
  keys: { apiUser: 'phk_1', editor: 'phk_2' },
  operator: { name: 'local', password: 'php_1' },
};

describe('The summary of the stack', () => {
  it('leads to the inbox when the inbox takes all emails', () => {
    const shown = summary({ ...STACK, smtpUrl: STACK.inbox.smtpUrl });
    expect(shown).toContain('Inbox       http://127.0.0.1:8025');
    expect(shown).toContain('hello@example.com');
  });

  it('names relays without their logins, and does not send people to an inbox that stays empty', () => {
    const shown = summary({ ...STACK, smtpUrl: 'smtps://user:secret@smtp.example.org smtp://[::1]:25' });
    expect(shown).toContain('Relay       smtps://smtp.example.org, smtp://[::1]:25');
    expect(shown).toContain('identity create --workspace wrk_1 --domain your-domain.example --verified');
    expect(shown).toContain('hello@your-domain.example');
    expect(shown).not.toMatch(/secret|inbox|8025/i);
  });

  it('warns of links that lead nowhere, if a relay delivers the emails and PUBLIC_URL is not set', () => {
    const relayed = { ...STACK, smtpUrl: 'smtps://smtp.example.org' };
    const warning = 'lead to http://127.0.0.1:3000, which only this machine reaches';
    expect(summary(relayed)).toContain(warning);
    expect(summary({ ...relayed, publicUrl: 'https://posthorn.example.org' })).not.toContain('PUBLIC_URL');
    expect(summary({ ...STACK, smtpUrl: STACK.inbox.smtpUrl })).not.toContain('PUBLIC_URL');
  });
});
