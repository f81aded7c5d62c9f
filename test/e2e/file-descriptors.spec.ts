import { execFileSync, spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { AppUnderTest } from '@posthorn/testing';
import { emailIn } from './api.ts';
import { newRecipient, validEmail, Stack, until } from './stack.ts';

/** Fewer than each app has open, so that it cannot open more. */
const NO_MORE = 20;
const ENOUGH = 1_024;

const canLimit = spawnSync('prlimit', ['--version']).status === 0;

/** Sets the limit of open files and connections of a running process. */
function limitFiles(pid: number, max: number): void {
  execFileSync('prlimit', [`--pid=${pid}`, `--nofile=${max}:`]);
}

(canLimit ? describe : describe.skip)('Without file descriptors', () => {
  // Each email needs a connection.
  const stack = Stack.forTests({ env: { SMTP_MESSAGES_PER_CONNECTION: '1' } });
  beforeAll(async () => {
    await stack.onlyMailTo(emailIn(await stack.send()).to);
  });

  /** The log of an app while this limit is set. */
  const says = ({ program }: AppUnderTest, what: string): Promise<void> =>
    until(() => program.output.includes(what), `it says ${what}`);

  it('a sender does not blame the relay, emails lose no attempt, and are sent when descriptors are free again', async () => {
    const { sender } = stack;
    limitFiles(sender.program.pid, NO_MORE);
    const { id, to } = emailIn(await stack.send());
    await says(sender, 'ALARM: this machine lacks the resources for a connection; emails wait');
    await says(sender, 'ALARM: no file descriptors are left');
    expect(sender.program.output).toContain('this process has no file descriptors left');
    expect(sender.program.output).not.toContain('the relay refuses us');
    expect(await stack.outboxRow(id)).toMatchObject({ attempts: 0 });
    limitFiles(sender.program.pid, ENOUGH);
    await stack.onlyMailTo(to);
    await says(sender, 'enough file descriptors are free again');
  });

  it('a gateway logs it, serves open connections, and accepts new ones when descriptors are free again', async () => {
    const gateway = stack.gateways[0]!;
    const email = { ...validEmail(), to: newRecipient() };
    limitFiles(gateway.program.pid, NO_MORE);
    await says(gateway, 'ALARM: no file descriptors are left');
    limitFiles(gateway.program.pid, ENOUGH);
    await says(gateway, 'enough file descriptors are free again');
    expect((await stack.api().post('/v1/emails', email)).status).toBe(200);
    await stack.onlyMailTo(email.to);
    const metrics = await (await fetch(gateway.metricsUrl)).text();
    expect(metrics).toContain(`\nprocess_max_fds ${ENOUGH}\n`);
  });
});
