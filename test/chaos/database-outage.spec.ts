import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { answerAt, FaultProxy, PrivatePostgres } from '@posthorn/testing';
import { newRecipient, Stack, until } from '../e2e/stack.ts';
import { seedEmails } from './seed.ts';

const EMAILS = 400;

describe('while Postgres is unavailable for some seconds', () => {
  let postgres: PrivatePostgres;
  /** Before Postgres. */
  let proxy: FaultProxy;
  let stack: Stack;
  let to: string;

  beforeEach(async () => {
    postgres = await PrivatePostgres.start();
    proxy = await FaultProxy.before(postgres.url);
    stack = await Stack.start({
      databaseUrl: proxy.urlFor(postgres.url),
      env: { SMTP_CONNECTIONS: '5' },
      sink: { script: answerAt('content', { delayMs: 20 }) },
    });
    to = newRecipient();
    await seedEmails(stack.database, {
      workspaceId: stack.tenant.workspaceId,
      count: EMAILS,
      lane: 'bulk',
      to,
    });
    await until(() => stack.mailsTo(to).length > 50, 'work is under way');
  });
  afterEach(async () => {
    await stack.close();
    await proxy.close();
    await postgres.close();
  });

  const sent = (): Promise<number> =>
    stack.count(`SELECT count(*)::int FROM emails WHERE status = 'SENT' AND sent_at IS NOT NULL`);

  it('the outcomes that a sender knows are kept, and recorded before it claims anything else', async () => {
    await postgres.stop();
    await sleep(4_000);
    // Emails that were claimed before may still be sent on a busy machine.
    await until(async () => {
      const before = stack.mailsTo(to).length;
      await sleep(2_000);
      return stack.mailsTo(to).length === before;
    }, 'nothing more leaves');
    await postgres.restart();
    await stack.settled();
    expect(stack.mailsTo(to)).toHaveLength(EMAILS);
    expect(await sent()).toBe(EMAILS);
    expect(await stack.count('SELECT count(*)::int FROM email_events WHERE duplicate_possible')).toBe(0);
  });

  it('a sender that gets SIGTERM records its outcomes when Postgres is back, and exits with 0', async () => {
    // The relay answers emails in transmission only once Postgres is unavailable.
    const { promise: after, resolve: goOn } = Promise.withResolvers<void>();
    let held = 0;
    stack.sink.script = (stage) => {
      if (stage !== 'content') return undefined;
      held += 1;
      return { after };
    };
    await until(() => held > 0, 'an email is under way');
    // Not stopped: it has to be back before the deadline of the sender's shutdown, also from a slow disk.
    await proxy.refuse();
    const before = stack.mailsTo(to).length;
    stack.sender.program.kill('SIGTERM');
    goOn();
    await until(() => stack.mailsTo(to).length > before, 'it has arrived');
    await sleep(2_000);
    expect(stack.sender.program.hasEnded).toBe(false);
    await proxy.heal();
    expect(await stack.sender.program.exit).toEqual({ code: 0, signal: null });
    await until(
      async () => (await sent()) === stack.mailsTo(to).length,
      'everything that arrived is recorded',
    );
    await stack.startApp('sender');
    await stack.settled();
    expect(stack.mailsTo(to)).toHaveLength(EMAILS);
  });
});
