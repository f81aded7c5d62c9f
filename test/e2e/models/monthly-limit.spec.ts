import { describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import fc from 'fast-check';
import { type Answer, emailIn, isReplay, statusesOf } from '../api.ts';
import { validEmail, Stack, type Tenant } from '../stack.ts';
import { DAY_MS, fromNow } from '../times.ts';
import { explore, SEED } from './explore.ts';

const GATEWAYS = 2;
const MAX_AT_ONCE = 8;

interface Model {
  readonly limit: number;
  used: number;
  /** Emails that were accepted with a key, to be repeated. */
  readonly keyed: object[];
  /** Scheduled emails that are not due yet. */
  readonly scheduled: string[];
}
interface Real {
  readonly tenant: Tenant;
}
type Command = fc.AsyncCommand<Model, Real>;

const stack = Stack.forTests({ gateways: GATEWAYS, sends: false });

const post = ({ tenant }: Real, gateway: number, email: object): Promise<Answer> =>
  stack.api(gateway % GATEWAYS).post('/v1/emails', email, { key: tenant.keys.apiUser });

const howMany = (status: number, answers: readonly Answer[]): number =>
  statusesOf(answers).filter((one) => one === status).length;

/** Sends a number of emails concurrently through both gateways. As many are accepted as the limit allows. */
class SendAtOnce implements Command {
  constructor(
    private readonly amount: number,
    private readonly isScheduled: boolean,
  ) {}

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const when = this.isScheduled ? { sendAt: fromNow(DAY_MS) } : {};
    const emails = Array.from({ length: this.amount }, () => ({
      ...validEmail(),
      ...when,
      idempotencyKey: crypto.randomUUID(),
    }));
    const answers = await Promise.all(emails.map((email, n) => post(real, n, email)));
    const room = Math.min(this.amount, model.limit - model.used);
    expect([howMany(200, answers), howMany(403, answers)]).toEqual([room, this.amount - room]);
    answers.forEach((answer, n) => {
      if (answer.status !== 200) return;
      model.keyed.push(emails[n]!);
      if (this.isScheduled) model.scheduled.push(emailIn(answer).id);
    });
    model.used += room;
  }

  toString = (): string => `sendAtOnce(${this.amount}${this.isScheduled ? ', scheduled' : ''})`;
}

/** Sends refused and repeated emails, which are not counted, whatever the usage. */
class SendWhatCountsNothing implements Command {
  constructor(private readonly amount: number) {}

  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const unverified = { ...validEmail(), from: 'a@unverified.example' };
    const again = model.keyed.slice(0, this.amount);
    const [refused, replayed] = await Promise.all([
      Promise.all(Array.from({ length: this.amount }, (_, n) => post(real, n, unverified))),
      Promise.all(again.map((email, n) => post(real, n, email))),
    ]);
    expect(howMany(400, refused)).toBe(this.amount);
    expect(replayed.filter(isReplay)).toHaveLength(again.length);
  }

  toString = (): string => `sendWhatCountsNothing(${this.amount})`;
}

/** Checks the usage against the model; a gateway and the next refusal must report it. */
class LookAtUsage implements Command {
  check = (): boolean => true;

  async run(model: Model, real: Real): Promise<void> {
    const sql = 'SELECT coalesce(sum(accepted), 0)::int AS count FROM usage WHERE workspace_id = $1';
    expect(await stack.count(sql, [uuidOf(real.tenant.workspaceId)])).toBe(model.used);
    const usage = await stack.api().get('/v1/usage', { key: real.tenant.keys.viewer });
    expect(usage.body['usage']).toMatchObject({
      used: model.used,
      limit: model.limit,
      remaining: model.limit - model.used,
    });
    if (model.used < model.limit) return;
    const { body } = await post(real, 0, validEmail());
    expect(body['message']).toContain(`limit of ${model.limit} emails is reached (${model.used} used)`);
  }

  toString = (): string => 'lookAtUsage()';
}

const amount = fc.integer({ min: 1, max: MAX_AT_ONCE });
const sequences = fc
  .commands<Model, Real, false>(
    [
      fc.tuple(amount, fc.boolean()).map(([many, isScheduled]) => new SendAtOnce(many, isScheduled)),
      amount.map((many) => new SendWhatCountsNothing(many)),
      fc.constant(new LookAtUsage()),
    ],
    { maxCommands: 12 },
  )
  .map((commands) => [...commands, new LookAtUsage()]);

describe('S13: the monthly limit, by a model', () => {
  it(`two gateways accept as many as it predicts (MODEL_SEED=${SEED})`, async () => {
    let limit = 0;
    await explore(sequences, async () => {
      limit = (limit % 12) + 1;
      return {
        model: { limit, used: 0, keyed: [], scheduled: [] },
        real: { tenant: await stack.createTenant('Model', limit) },
      };
    });
  });
});
