import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AppUnderTest, FaultProxy, PrivatePostgres, PrivateRedis } from '@posthorn/testing';
import { Api, type Answer } from '../e2e/api.ts';
import { validEmail, Stack, until, takesAll } from '../e2e/stack.ts';
import { LEASES_FOR_OUTAGES } from './short-leases.ts';

const CALLERS = 8;
const BETWEEN_CALLS_MS = 20;
/** How many calls are made before the failover, and after it. */
const EMAILS_BETWEEN = 150;
const SCHEDULED_AHEAD_MS = 3_000;
/** Longer than the time limit for an answer. */
const FROZEN_MS = 8_000;

/** The kinds of calls, one for each caller. */
const KINDS = ['with a key', 'without a key', 'a batch', 'scheduled'] as const;

describe('When a synchronous standby takes over under load', () => {
  let primary: PrivatePostgres;
  let standby: PrivatePostgres;
  /** The address that follows the primary. */
  let proxy: FaultProxy;
  let redis: PrivateRedis;
  let stack: Stack;
  let apps: AppUnderTest[];
  let accepted: string[];
  /** Recipients of calls without a key that were answered 503: these emails may exist. */
  let unsure: string[];
  let otherAnswers: Set<string>;
  let isOver: boolean;

  beforeEach(async () => {
    [accepted, unsure, otherAnswers, isOver] = [[], [], new Set(), false];
    [primary, redis] = await Promise.all([PrivatePostgres.start(), PrivateRedis.start()]);
    standby = await primary.addStandby();
    proxy = await FaultProxy.before(primary.url);
    stack = await Stack.start({
      gateways: 2,
      receives: takesAll,
      databaseUrl: proxy.urlFor(primary.url),
      redisUrl: redis.url,
      env: LEASES_FOR_OUTAGES,
    });
    const more = await Promise.all(
      (['sender', 'scheduler', 'dashboard'] as const).map((name) => stack.startApp(name)),
    );
    apps = [...stack.gateways, stack.sender, stack.scheduler, ...stack.dispatchers, ...more];
    const hook = { url: stack.receiver.url('/hook'), events: ['EMAIL_SENT'] };
    await stack.api().post('/v1/webhooks', hook, { key: stack.tenant.keys.editor });
  });
  afterEach(async () => {
    isOver = true;
    await stack.close();
    await proxy.close();
    await standby.close();
    await Promise.all([primary.close(), redis.close()]);
  });

  /** Sends until the test is over; a call with a key is repeated until it is accepted. */
  async function call(caller: number): Promise<void> {
    const kind = KINDS[caller % KINDS.length]!;
    for (let n = caller; !isOver; n += 1) {
      const api = new Api(stack.gateways[n % 2]!.url, stack.tenant.keys.apiUser);
      const email = { ...validEmail(), ...moreOf(kind) };
      const emails = kind === 'a batch' ? [email, validEmail(), validEmail()] : [email];
      const headers = { 'Idempotency-Key': randomUUID() };
      for (let isOpen = true; isOpen; await sleep(BETWEEN_CALLS_MS)) {
        const answer = await (kind === 'a batch'
          ? api.post('/v1/emails/batch', { emails }, { headers })
          : api.post('/v1/emails', email));
        isOpen = !keep(answer, emails) && kind !== 'without a key';
        if (answer.status !== 200 && !isOpen) unsure.push(email.to);
      }
    }
  }

  function moreOf(kind: (typeof KINDS)[number]): object {
    if (kind === 'with a key') return { idempotencyKey: randomUUID() };
    if (kind !== 'scheduled') return {};
    const sendAt = new Date(Date.now() + SCHEDULED_AHEAD_MS).toISOString();
    return { idempotencyKey: randomUUID(), sendAt };
  }

  /** @returns whether it was accepted */
  function keep({ status, headers }: Answer, emails: readonly { to: string }[]): boolean {
    if (status === 200) accepted.push(...emails.map(({ to }) => to));
    else otherAnswers.add(`${status}, Retry-After ${headers.has('retry-after') ? 'said' : 'missing'}`);
    return status === 200;
  }

  async function untilMore(): Promise<void> {
    const [acceptedBefore, arrivedBefore] = [accepted.length, stack.sink.messages.length];
    await until(() => accepted.length >= acceptedBefore + EMAILS_BETWEEN, 'emails are accepted');
    await until(() => stack.sink.messages.length >= arrivedBefore + EMAILS_BETWEEN, 'emails arrive');
  }

  async function takeOver(): Promise<void> {
    await standby.promote();
    proxy.redirectTo(standby.url);
  }

  it.each([
    ['its primary was killed', () => primary.kill().then(takeOver)],
    ['its primary was stopped in order', () => primary.stop().then(takeOver)],
    ['its primary lives on, and keeps the connections that it has', takeOver],
    [
      'nothing had come through for seconds',
      async () => {
        proxy.freeze();
        await sleep(FROZEN_MS);
        await takeOver();
        await proxy.heal();
      },
    ],
  ])(
    'nothing is lost, nothing doubled without a mark, and all apps go on without intervention: %s',
    async (_how, failOver) => {
      const load = Array.from({ length: CALLERS }, (_, n) => call(n));
      await untilMore();
      await failOver();
      await untilMore();
      isOver = true;
      await Promise.all(load);
      await stack.settled();

      expect(apps.filter(({ program }) => program.hasEnded)).toEqual([]);
      expect([...otherAnswers].filter((answer) => answer !== '503, Retry-After said')).toEqual([]);
      expect(stack.logs).not.toMatch(/a request failed|OutcomeRefused/);
      const arrived = Map.groupBy(
        stack.sink.messages.flatMap(({ to }) => to),
        (to) => to,
      );
      expect(accepted.filter((to) => !arrived.has(to))).toEqual([]);
      const known = new Set([...accepted, ...unsure]);
      expect([...arrived.keys()].filter((to) => !known.has(to))).toEqual([]);
      const { rows } = await stack.database.pool.query<{ to: string }>(
        'SELECT to_address AS to FROM emails JOIN email_events ON email_id = emails.id WHERE duplicate_possible',
      );
      const toldOf = new Set(rows.map(({ to }) => to));
      const doubled = [...arrived].filter(([, mails]) => mails.length > 1).map(([to]) => to);
      expect(doubled.filter((to) => !toldOf.has(to))).toEqual([]);
      const eventsPosted = (): number =>
        new Set(stack.receiver.posts.map(({ headers }) => headers['webhook-id'])).size;
      await until(() => eventsPosted() === arrived.size, 'each email is reported, once or more often');
    },
    600_000,
  );
});
