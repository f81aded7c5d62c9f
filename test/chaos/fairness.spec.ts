import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { bulkLane, type LaneId, nowLane } from '@posthorn/domain';
import { OutboxStore } from '@posthorn/database';
import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { JobWorker, LaneGate, LaneRings, QUEUES } from '@posthorn/queues';
import { Pace, RelayBreaker, RelayChain, SmtpTransport } from '@posthorn/smtp';
import { answerAt, type SinkScript, testRedisUrl, uniqueQueuePrefix } from '@posthorn/testing';
import { ComposeEmail, DeliverEmail, SendEmails, WithheldRecipients } from '@posthorn/use-cases';
import { newRecipient, Stack, until } from '../e2e/stack.ts';
import { seedEmails } from './seed.ts';

const BACKLOG = 10_000;
const CONNECTIONS = 5;
const ROWS_PER_TURN = 50;
/** A lane's four slots, once running and once waiting, for each of the two workers that read the queue. */
const MAX_TURNS_BEFORE = 8;
/** Those turns, and the ones that run in the lane's slots at the time of the ring: all of them may end before Redis, after a pause, delivers the single one. */
const MAX_MAILS_BEFORE = (MAX_TURNS_BEFORE + 4) * ROWS_PER_TURN;

/** Two workers in this process, so that their turns can be counted. */
describe('a backlog of 10,000', () => {
  let stack: Stack;
  let rings: LaneRings;
  const turns: LaneId[] = [];
  const closers: (() => Promise<unknown>)[] = [];

  beforeEach(async () => {
    turns.length = 0;
    stack = await Stack.start({
      sends: false,
      sink: { script: answerAt('content', { delayMs: 2 }) },
    });
    const redis = { url: testRedisUrl(), prefix: uniqueQueuePrefix() };
    const onError = (error: unknown): void => {
      throw error;
    };
    rings = new LaneRings({ ...redis, turnQueue: 'email', rowsPerTurn: ROWS_PER_TURN, onError });
    closers.push(() => rings.close());
    while (
      !(await rings.ping().then(
        () => true,
        () => false,
      ))
    )
      await sleep(5);
    startWorker(redis, onError);
    startWorker(redis, onError);
  });
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
    await stack.close();
  });

  function startWorker(redis: { url: string; prefix: string }, onError: (error: unknown) => void): void {
    const transport = new SmtpTransport(stack.sink.url, { maxConnections: CONNECTIONS });
    const relays = new RelayChain([{ transport, breaker: new RelayBreaker() }], onError);
    const composer = new ComposeEmail({
      htmlToText: { convert: () => Promise.reject(new Error('every seed has a text')) },
      versions: { find: () => Promise.reject(new Error('no seed has a template')) },
      renderer: { render: () => Promise.reject(new Error('no seed has a template')) },
      signingKeys: { find: () => Promise.resolve({ signers: [] }) },
      unsubscribeLinks: { urlOf: () => 'https://example.com', mailtoOf: () => undefined },
      tracking: { track: (_email, html) => Promise.resolve(html) },
      feedbackSenderId: undefined,
    });
    const pace = new Pace(0);
    const outbox = new OutboxStore(stack.database);
    const recipients = new WithheldRecipients(outbox);
    const sendEmails = new SendEmails({
      outbox,
      rings,
      relays,
      delivery: new DeliverEmail({
        composer,
        recipients,
        relays,
        pace,
        gate: new LaneGate(CONNECTIONS, () => pace.turn()),
        onError,
      }),
      connections: CONNECTIONS,
      rowsPerTurn: ROWS_PER_TURN,
      handoverMs: 250,
      leaseMs: 60_000,
      renewalMs: 20_000,
      marginMs: 30_000,
      onError,
    });
    const worker = new JobWorker<'email.turn'>({
      ...redis,
      queue: QUEUES.emailTurns,
      concurrency: 10,
      handlers: {
        'email.turn': ({ laneId, slot }) => {
          turns.push(laneId);
          return sendEmails.serve(laneId, slot);
        },
      },
      onError,
    });
    worker.start();
    closers.push(
      () => transport.close(),
      () => Promise.all([worker.close(), sendEmails.drain()]),
    );
  }

  /** How many turns of others begin, and how many mails of others arrive, between the ring of a single email and its arrival. */
  async function loneEmail(
    backlogLane: LaneId,
    lone: { workspaceId: Stack['tenant']['workspaceId'] },
  ): Promise<{
    turnsBefore: number;
    mailsBefore: number;
  }> {
    rings.ring(backlogLane, BACKLOG);
    await until(() => stack.sink.count > 300, 'the backlog is being worked on');
    const to = newRecipient();
    await seedEmails(stack.database, { workspaceId: lone.workspaceId, count: 1, lane: 'now', to });
    const turnsAtRing = turns.length;
    const mailsAtRing = stack.sink.count;
    rings.ring(nowLane(lone.workspaceId));
    await until(() => stack.mailsTo(to).length === 1, 'the lone email arrives');
    const mails = stack.sink.messages.slice(mailsAtRing).findIndex((message) => message.to.includes(to));
    return {
      turnsBefore: turns.indexOf(nowLane(lone.workspaceId), turnsAtRing) - turnsAtRing,
      mailsBefore: mails,
    };
  }

  it('does not delay the only email of another workspace by more than a lane’s slots', async () => {
    const { workspaceId } = stack.tenant;
    const other = await stack.createTenant('Other');
    await seedEmails(stack.database, { workspaceId, count: BACKLOG, lane: 'now', to: newRecipient() });
    const { turnsBefore, mailsBefore } = await loneEmail(nowLane(workspaceId), other);
    expect(turnsBefore).toBeLessThanOrEqual(MAX_TURNS_BEFORE);
    expect(mailsBefore).toBeLessThanOrEqual(MAX_MAILS_BEFORE);
  });

  it('in a batch does not delay a single email of the same workspace by more than a lane’s slots', async () => {
    const { workspaceId } = stack.tenant;
    await seedEmails(stack.database, { workspaceId, count: BACKLOG, lane: 'bulk', to: newRecipient() });
    const { turnsBefore, mailsBefore } = await loneEmail(bulkLane(workspaceId), stack.tenant);
    expect(turnsBefore).toBeLessThanOrEqual(MAX_TURNS_BEFORE);
    expect(mailsBefore).toBeLessThanOrEqual(MAX_MAILS_BEFORE);
  });
});

describe('while the relay has answered none of a backlog', () => {
  const [HELD, CONNECTIONS_HELD] = [100, 18];
  let stack: Stack;
  /** Emails to this recipient are answered once `answer` is called. */
  let held: string;
  let heldCount: number;
  let answer: () => void;
  /** Emails to these recipients are deferred. */
  const deferred = new Set<string>();

  beforeEach(async () => {
    held = newRecipient();
    heldCount = 0;
    const { promise: answered, resolve } = Promise.withResolvers<void>();
    answer = resolve;
    const script: SinkScript = (stage, { to }) => {
      if (stage === 'rcpt' && deferred.has(to.at(-1)!)) return { reply: '451 4.7.1 greylisted' };
      if (stage !== 'content' || to[0] !== held) return undefined;
      heldCount += 1;
      return { after: answered };
    };
    stack = await Stack.start({ sink: { script } });
  });
  afterEach(async () => {
    answer();
    deferred.clear();
    await stack.close();
  });

  const seed = (
    { workspaceId }: { workspaceId: WorkspaceId },
    to: string,
    lane: 'now' | 'bulk' = 'now',
    count = 1,
  ) => seedEmails(stack.database, { workspaceId, count, lane, to });
  const arrival = (to: string) => until(() => stack.mailsTo(to).length === 1, `the email to ${to} arrives`);
  const backlogHeld = () =>
    until(() => heldCount >= CONNECTIONS_HELD, 'the backlog has all the connections that it may have');

  async function deferral(ids: readonly string[]): Promise<void> {
    const waiting = `SELECT count(*)::int FROM outbox WHERE state = 'waiting' AND attempts = 1 AND subject_id = ANY ($1)`;
    const uuids = ids.map((id) => uuidOf(id as EmailId));
    await until(async () => (await stack.count(waiting, [uuids])) === ids.length, 'they are deferred');
    deferred.clear();
  }

  /** What has arrived while the backlog is held; then all of it arrives. */
  async function expectArrived(count: number): Promise<void> {
    expect([stack.sink.count, heldCount]).toEqual([count, CONNECTIONS_HELD]);
    answer();
    await until(() => stack.sink.count === count + HELD, 'the backlog arrives');
  }

  it('a lone email of another workspace is sent', async () => {
    const other = await stack.createTenant('Other');
    const [before, to] = [newRecipient(), newRecipient()];
    await seed(other, before);
    await arrival(before);
    await seed(stack.tenant, held, 'now', HELD);
    await backlogHeld();
    await seed(other, to);
    await arrival(to);
    await expectArrived(2);
  });

  it('a single email of the same workspace is sent that was deferred before, when it is tried again', async () => {
    const to = newRecipient();
    deferred.add(to);
    const ids = await seed(stack.tenant, to);
    await deferral(ids);
    await seed(stack.tenant, held, 'bulk', HELD);
    await backlogHeld();
    await stack.makeDue(ids[0]!);
    await arrival(to);
    await expectArrived(1);
  });

  it('of deferred emails, a new single one of the same workspace is sent', async () => {
    deferred.add(held);
    const ids = await seed(stack.tenant, held, 'now', HELD);
    await deferral(ids);
    for (const id of ids) await stack.makeDue(id);
    await backlogHeld();
    const to = newRecipient();
    await seed(stack.tenant, to);
    await arrival(to);
    await expectArrived(1);
  });
});
