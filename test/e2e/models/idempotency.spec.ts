import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import fc from 'fast-check';
import { type Answer, isReplay } from '../api.ts';
import { Stack, type Tenant } from '../stack.ts';
import { DAY_MS, fromNow } from '../times.ts';
import { explore, SEED } from './explore.ts';

/** What is sent. Those that are refused are so for a reason that is found before or after a replay is looked for. */
const SOUND = { from: 'a@example.com', to: 'b@receiver.example', subject: 'One', html: '<p>1</p>' };
const PAYLOADS: readonly {
  readonly email: object;
  readonly refusedWith?: 400;
  readonly isJudgedFirst?: boolean;
}[] = [
  { email: SOUND },
  { email: { ...SOUND, subject: 'Two' } },
  { email: { ...SOUND, sendAt: fromNow(DAY_MS) } },
  { email: { ...SOUND, from: 'a@unverified.example' }, refusedWith: 400 },
  { email: { ...SOUND, sendAt: fromNow(100 * DAY_MS) }, refusedWith: 400 },
  { email: { ...SOUND, sendat: 'a slip of the pen' }, refusedWith: 400, isJudgedFirst: true },
];
const KEYS = 3;
const GATEWAYS = 2;

/** The expected state, derived from the answers so far. */
interface Model {
  /** By key: the accepted payload, and the body of its answer. */
  readonly answered: Map<number, { readonly payload: number; readonly text: string }>;
  emails: number;
}
interface Real {
  readonly tenant: Tenant;
  /** A prefix that separates the keys of this sequence from those of others. */
  readonly name: string;
}
interface Send {
  readonly gateway: number;
  readonly key: number;
  readonly payload: number;
  readonly by: 'field' | 'header' | 'both';
}

const stack = Stack.forTests({ gateways: GATEWAYS, sends: false });

function send({ tenant, name }: Real, { gateway, key, payload, by }: Send): Promise<Answer> {
  const idempotencyKey = `${name} ${key}`;
  return stack
    .api(gateway)
    .post(
      '/v1/emails',
      { ...PAYLOADS[payload]!.email, ...(by === 'header' ? {} : { idempotencyKey }) },
      { key: tenant.keys.apiUser, headers: by === 'field' ? {} : { 'Idempotency-Key': idempotencyKey } },
    );
}

/** The expected answer to a call whose key is in use. */
function expectAnswerUnder(
  { payload, text }: { payload: number; text: string },
  sent: Send,
  answer: Answer,
): void {
  const isRefusedFirst = PAYLOADS[sent.payload]!.isJudgedFirst === true;
  const expected = sent.payload === payload ? 200 : isRefusedFirst ? 400 : 409;
  expect([answer.status, isReplay(answer)]).toEqual([expected, expected === 200]);
  if (expected === 200) expect(answer.text).toBe(text);
}

/** A single call, without concurrent ones. */
class SendOne implements fc.AsyncCommand<Model, Real> {
  constructor(private readonly sent: Send) {}

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const answer = await send(real, this.sent);
    const before = model.answered.get(this.sent.key);
    if (before !== undefined) return expectAnswerUnder(before, this.sent, answer);
    const refusedWith = PAYLOADS[this.sent.payload]!.refusedWith;
    expect([answer.status, isReplay(answer)]).toEqual([refusedWith ?? 200, false]);
    if (refusedWith !== undefined) return;
    model.answered.set(this.sent.key, { payload: this.sent.payload, text: answer.text });
    model.emails += 1;
  }

  toString = (): string => `send(${JSON.stringify(this.sent)})`;
}

/** Several concurrent calls with one key. */
class SendAtOnce implements fc.AsyncCommand<Model, Real> {
  constructor(
    private readonly key: number,
    private readonly crowd: readonly Omit<Send, 'key'>[],
  ) {}

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const sent = this.crowd.map((one) => ({ ...one, key: this.key }));
    const answers = await Promise.all(sent.map((one) => send(real, one)));
    const before = model.answered.get(this.key);
    if (before === undefined) this.judgeRace(model, sent, answers);
    else sent.forEach((one, n) => expectAnswerUnder(before, one, answers[n]!));
  }

  toString = (): string => `sendAtOnce(${this.key}, ${JSON.stringify(this.crowd)})`;

  /** The model learns from the answers which call was first; everything else follows. */
  private judgeRace(model: Model, sent: readonly Send[], answers: readonly Answer[]): void {
    const first = answers.findIndex((answer) => answer.status === 200 && !isReplay(answer));
    const couldWin = sent.some(({ payload }) => PAYLOADS[payload]!.refusedWith === undefined);
    expect(first >= 0).toBe(couldWin);
    if (!couldWin) {
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([400]));
      return;
    }
    const winner = { payload: sent[first]!.payload, text: answers[first]!.text };
    sent.forEach((one, n) => {
      // A refused call may have been decided before the key was in use.
      const isRefusedBefore = PAYLOADS[one.payload]!.refusedWith === answers[n]!.status;
      if (n !== first && !isRefusedBefore) expectAnswerUnder(winner, one, answers[n]!);
    });
    model.answered.set(this.key, winner);
    model.emails += 1;
  }
}

/** Different keys in field and header: always refused. */
class SendContradiction implements fc.AsyncCommand<Model, Real> {
  constructor(private readonly gateway: number) {}

  check = (): boolean => true;

  async run(_model: Model, { tenant, name }: Real): Promise<void> {
    const answer = await stack
      .api(this.gateway)
      .post(
        '/v1/emails',
        { ...SOUND, idempotencyKey: `${name} 0` },
        { key: tenant.keys.apiUser, headers: { 'Idempotency-Key': `${name} 1` } },
      );
    expect(answer.status).toBe(400);
  }

  toString = (): string => `sendContradiction(${this.gateway})`;
}

/** The database has as many emails as the model. */
class Count implements fc.AsyncCommand<Model, Real> {
  check = (): boolean => true;

  async run(model: Model, { tenant }: Real): Promise<void> {
    const sql = 'SELECT count(*)::int FROM emails WHERE workspace_id = $1';
    expect(await stack.count(sql, [uuidOf(tenant.workspaceId)])).toBe(model.emails);
  }

  toString = (): string => 'count()';
}

const someSend = fc.record({
  gateway: fc.nat(GATEWAYS - 1),
  payload: fc.nat(PAYLOADS.length - 1),
  by: fc.constantFrom('field' as const, 'header' as const, 'both' as const),
});
const someKey = fc.nat(KEYS - 1);
const sequences = fc
  .commands<Model, Real, false>(
    [
      fc.tuple(someKey, someSend).map(([key, sent]) => new SendOne({ ...sent, key })),
      fc
        .tuple(someKey, fc.array(someSend, { minLength: 2, maxLength: 12 }))
        .map(([key, crowd]) => new SendAtOnce(key, crowd)),
      fc.nat(GATEWAYS - 1).map((gateway) => new SendContradiction(gateway)),
      fc.constant(new Count()),
    ],
    { maxCommands: 15 },
  )
  .map((commands) => [...commands, new Count()]);

describe('S11: idempotency, by a model', () => {
  it(`two gateways answer as it predicts, and accept as many emails (MODEL_SEED=${SEED})`, () =>
    explore(sequences, async () => ({
      model: { answered: new Map(), emails: 0 },
      real: { tenant: await stack.createTenant('Model'), name: randomUUID() },
    })));
});
