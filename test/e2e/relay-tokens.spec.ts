import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { SmtpSink, TestAuthority, TokenServer } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { Stack, until } from './stack.ts';

const USER = 'mailer@example.com';
const SECRET = 'the secret of the client';
const ALARM = 'the relay refuses us or cannot be reached';

describe('A relay that is logged in to with access tokens', () => {
  let directory: string;
  let authority: TestAuthority;
  let tokens: TokenServer;
  let relay: SmtpSink;
  const logins: [token: string, user: string][] = [];
  const stack = Stack.forTests(async () => {
    directory = mkdtempSync(join(tmpdir(), 'posthorn-tokens-'));
    authority = TestAuthority.create();
    writeFileSync(join(directory, 'ca.pem'), authority.certificate);
    tokens = await TokenServer.start(() => ({
      status: 401,
      body: { error: 'invalid_client', error_description: `wrong: ${SECRET}` },
    }));
    relay = await SmtpSink.start({
      starttls: authority.issue({ names: ['IP:127.0.0.1'] }),
      auth: (...login) => logins.push(login) > 0,
    });
    return {
      smtpUrl: () => relay.url.replace('//', `//${encodeURIComponent(USER)}@`),
      env: {
        NODE_EXTRA_CA_CERTS: join(directory, 'ca.pem'),
        SMTP_OAUTH_TOKEN_URL: tokens.url,
        SMTP_OAUTH_CLIENT_ID: 'posthorn',
        SMTP_OAUTH_CLIENT_SECRET: SECRET,
        SMTP_OAUTH_SCOPE: 'smtp',
      },
    };
  });
  afterAll(async () => {
    await Promise.all([relay.close(), tokens.close()]);
    authority.close();
    rmSync(directory, { recursive: true });
  });

  it('gets nothing while there is no token, no email loses an attempt, and the alarm gives the reason', async () => {
    const { id } = emailIn(await stack.send());
    await until(() => stack.logs.includes(ALARM), 'the alarm is raised');
    expect(stack.logs).toContain('invalid_client, wrong: ***');
    expect(stack.logs).not.toContain(SECRET);
    expect(await stack.outboxRow(id)).toMatchObject({ attempts: 0 });
    expect(relay.connections.total).toBe(0);

    tokens.script = (_form, number) => ({
      body: { access_token: `token-${number}`, token_type: 'Bearer', expires_in: 3_600 },
    });
    await until(async () => (await stack.show(id)).sentAt !== null, 'the relay took it');
    expect((await stack.show(id)).timeline).toMatchObject([
      { event: 'ACCEPTED' },
      { event: 'SENT', attempt: 1 },
    ]);
    expect(logins).toEqual([[`token-${tokens.requests.length}`, USER]]);
  });
});
