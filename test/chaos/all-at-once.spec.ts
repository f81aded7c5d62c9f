import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { idFromUuid } from '@posthorn/kernel';
import {
  type AppName,
  FaultProxy,
  freePort,
  PrivatePostgres,
  PrivateRedis,
  type ReceivedPost,
  type SinkMessage,
  WebhookReceiver,
} from '@posthorn/testing';
import { type Answer, type Api, emailIn, isReplay } from '../e2e/api.ts';
import { headerValues } from '../e2e/mail.ts';
import { ALLOW_LOOPBACK_WEBHOOKS } from '../e2e/receiving.ts';
import { validEmail, Stack, until } from '../e2e/stack.ts';
import { fromNow } from '../e2e/times.ts';
import { FeedFollower } from './feed-follower.ts';
import { InsistingCaller } from './insisting-caller.ts';
import { gatewayUrls, Place } from './places.ts';
import { settle } from './settle.ts';
import { LEASES_FOR_KILLS } from './short-leases.ts';

const CALLERS = 6;
const BETWEEN_CALLS_MS = 30;
/** How many emails arrive before the next fault. */
const EMAILS_BETWEEN = 15;
const PREVIEWS = 100;
const END_OF_MAIL = '\r\n.\r\n';

/** Two of each, so that one serves while the other is stopped. */
const APPS: readonly AppName[] = (['gateway', 'sender', 'scheduler', 'webhook-dispatcher'] as const).flatMap(
  (name) => [name, name],
);

describe('Faults of everything at once', () => {
  let postgres: PrivatePostgres;
  let redis: PrivateRedis;
  let receiver: WebhookReceiver;
  let relay: FaultProxy;
  let stack: Stack;
  let places: Place[];
  const accepted = new Map<string, string>();
  const cancelled = new Set<string>();
  let caller: InsistingCaller;
  /** Answers that contradict an earlier one. */
  const wrong: string[] = [];
  let isOver = false;

  /** The first POST of every fourth event or so, by the event's id. */
  const isRefused = (headers: ReceivedPost['headers']): boolean =>
    headers['x-service-attempt'] === '1' && /[07bfkprx]$/.test(String(headers['x-service-event-id']));

  beforeAll(async () => {
    const sinkPort = await freePort();
    [postgres, redis, receiver, relay] = await Promise.all([
      PrivatePostgres.start(),
      PrivateRedis.start(),
      WebhookReceiver.start(({ headers }) => ({ status: isRefused(headers) ? 500 : 200 })),
      FaultProxy.before(`smtp://127.0.0.1:${sinkPort}`),
    ]);
    stack = await Stack.start({
      gateways: 0,
      sends: false,
      databaseUrl: postgres.url,
      redisUrl: redis.url,
      sink: { port: sinkPort },
      smtpUrl: (url) => relay.urlFor(url),
      env: {
        ...ALLOW_LOOPBACK_WEBHOOKS,
        ...LEASES_FOR_KILLS,
      },
    });
    places = await Promise.all(APPS.map((name) => Place.take(stack, name)));
    caller = new InsistingCaller(() => gatewayUrls(places), stack.tenant.keys.apiUser);
    const hook = { url: receiver.url('/hook'), events: ['CONTACT_CREATED', 'EMAIL_SENT'] };
    expect((await caller.insist((api) => api.post('/v1/webhooks', hook))).status).toBe(200);
  });
  afterAll(async () => {
    isOver = true;
    await stack.close();
    await Promise.all([postgres.close(), redis.close(), receiver.close(), relay.close()]);
  });

  /** Sends until the test is over; repeats every call on the other gateway, and cancels every fourth email. */
  async function call(first: number): Promise<void> {
    for (let n = first; !isOver; n += 1) {
      const isScheduled = n % 4 === 0;
      const email = {
        ...validEmail(),
        contactProperties: { n },
        settings: { trackOpens: true },
        idempotencyKey: randomUUID(),
        ...(isScheduled ? { sendAt: fromNow(2_000) } : {}),
      };
      const send = (api: Api): Promise<Answer> => api.post('/v1/emails', email);
      const answer = await caller.insist(send, n);
      const again = await caller.insist(send, n + 1);
      if (again.text !== answer.text || !isReplay(again)) wrong.push(`${answer.text} then ${again.text}`);
      const { id, messageId } = emailIn(answer);
      accepted.set(`<${messageId}>`, id);
      if (isScheduled) await takeBack(id);
      await sleep(BETWEEN_CALLS_MS);
    }
  }

  async function takeBack(id: string): Promise<void> {
    const { status, text } = await caller.insist((api) => api.post(`/v1/emails/${id}/cancel`, {}));
    if (status === 200 || text.includes('CANCELLED')) cancelled.add(id);
    else if (status !== 409) wrong.push(text);
  }

  const newFollower = (): FeedFollower => new FeedFollower((path) => caller.insist((api) => api.get(path)));

  async function follow(feed: FeedFollower): Promise<void> {
    for (; !isOver; await sleep(BETWEEN_CALLS_MS)) await feed.readOn();
  }

  async function untilMore(): Promise<void> {
    const [acceptedBefore, arrivedBefore] = [accepted.size, stack.sink.messages.length];
    await until(() => accepted.size >= acceptedBefore + EMAILS_BETWEEN, 'emails are accepted');
    await until(() => stack.sink.messages.length >= arrivedBefore + EMAILS_BETWEEN, 'emails arrive');
  }

  function arrivals(): Map<string, SinkMessage[]> {
    return Map.groupBy(stack.sink.messages, (message) => headerValues(message, 'Message-ID')[0]!);
  }

  async function expectEmailsOnce(): Promise<void> {
    const { rows } = await stack.database.pool.query<{ message: string; marked: boolean }>(
      `SELECT '<' || message_id || '>' AS message,
              EXISTS (SELECT 1 FROM email_events v WHERE v.email_id = e.id AND duplicate_possible) AS marked
       FROM   emails e`,
    );
    const marked = new Set(rows.filter((row) => row.marked).map(({ message }) => message));
    expect(rows.map(({ message }) => message).sort()).toEqual([...accepted.keys()].sort());
    const arrived = arrivals();
    const left = [...accepted].filter(([, id]) => !cancelled.has(id)).map(([message]) => message);
    expect([...arrived.keys()].sort()).toEqual(left.sort());
    for (const [message, copies] of arrived) {
      if (!marked.has(message)) expect([message, copies.length]).toEqual([message, 1]);
      for (const { raw } of copies) expect(raw).toEqual(copies[0]!.raw);
    }
    expect(await stack.count('SELECT accepted AS count FROM usage')).toBe(left.length);
  }

  async function expectPreviewed(): Promise<void> {
    for (const [message, [copy]] of [...arrivals()].slice(-PREVIEWS)) {
      const path = `/v1/emails/${accepted.get(message)!}/preview`;
      const { body } = await caller.insist((api) => api.get(path));
      expect(Buffer.from((body['preview'] as { message: string }).message)).toEqual(copy!.raw);
    }
  }

  async function expectEventsTold(feed: FeedFollower): Promise<void> {
    const { rows } = await stack.database.pool.query<{ id: string; payload: string }>(
      'SELECT id, payload FROM events',
    );
    const told = Map.groupBy(receiver.posts, ({ headers }) => headers['x-service-event-id']);
    expect(rows).toHaveLength(accepted.size + (accepted.size - cancelled.size));
    for (const { id, payload } of rows) {
      const posts = told.get(idFromUuid('evt', id)) ?? [];
      expect(new Set(posts.map(({ body }) => body.toString()))).toEqual(new Set([payload]));
      expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    }
    expect(feed.ids.sort()).toEqual(rows.map(({ id }) => idFromUuid('evt', id)).sort());
    const anew = newFollower();
    await anew.readOn();
    expect(feed.ids).toEqual(anew.ids);
  }

  it('lose nothing and double nothing that is not marked, and emails are sent as previewed and reported', async () => {
    const load = Array.from({ length: CALLERS }, (_, n) => call(n));
    const feed = newFollower();
    const following = follow(feed);
    await untilMore();
    const crash = (): Promise<void> => postgres.crash().then(() => postgres.restart());
    for (const [n, place] of places.entries()) {
      const others = [
        crash,
        () => redis.flush(),
        () => redis.restart(),
        () => Promise.resolve(relay.cutAll()),
      ];
      void relay.cutAfter(END_OF_MAIL);
      const replaced = place.kill().then(() => place.restart());
      await Promise.all([replaced, others[n % others.length]!()]);
      await untilMore();
    }
    isOver = true;
    await Promise.all(load);
    await following;
    await settle(stack, [receiver]);
    await feed.readOn();

    expect([...caller.wrong, ...wrong]).toEqual([]);
    await expectEmailsOnce();
    await expectPreviewed();
    await expectEventsTold(feed);
  }, 600_000);
});
