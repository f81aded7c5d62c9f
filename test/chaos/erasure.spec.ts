import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { uuidOf } from '@posthorn/kernel';
import { newRecipient, Stack, until, validEmail } from '../e2e/stack.ts';
import { DAY_MS, fromNow } from '../e2e/times.ts';

const EMAILS = 1_500;
const A_BATCH = 50;
/** How often the scheduler is killed. */
const DEATHS = 3;

interface Erasure {
  readonly id: string;
  readonly status: string;
  readonly searched: number;
  readonly cancelled: number;
  readonly deleted: Readonly<Record<string, number>>;
}

describe('An erasure', () => {
  let stack: Stack;
  beforeEach(async () => {
    stack = await Stack.start({});
  });
  afterEach(() => stack.close());

  const read = async (id: string): Promise<Erasure> =>
    (await stack.api().get(`/v1/erasures/${id}`)).body['erasure'] as Erasure;
  const accepted = (): Promise<number> =>
    stack.count('SELECT sum(accepted)::int AS count FROM usage WHERE workspace_id = $1', [
      uuidOf(stack.tenant.workspaceId),
    ]);

  it('S21: is completed when the scheduler is killed in the middle, and has counted and cancelled everything once', async () => {
    const person = newRecipient();
    for (let n = 0; n < EMAILS; n += A_BATCH) {
      const emails = Array.from({ length: A_BATCH }, () => ({
        ...validEmail(),
        to: person,
        sendAt: fromNow(DAY_MS),
        contactProperties: { n },
      }));
      expect((await stack.api().post('/v1/emails/batch', { emails })).status).toBe(200);
    }
    const other = await stack.send({ sendAt: fromNow(DAY_MS) });
    const key = stack.tenant.keys.editor;
    const requested = await stack.api().post('/v1/erasures', { email: person }, { key });
    const { id } = requested.body['erasure'] as Erasure;

    let { scheduler } = stack;
    for (let deaths = 0; deaths < DEATHS; deaths += 1) {
      const before = await read(id);
      const isFurther = async (): Promise<boolean> => {
        const { cancelled, searched, status } = await read(id);
        return cancelled > before.cancelled || searched > before.searched || status === 'COMPLETED';
      };
      await until(isFurther, 'it goes on');
      scheduler.program.kill('SIGKILL');
      await scheduler.program.exit;
      scheduler = await stack.startApp('scheduler');
    }
    await until(async () => (await read(id)).status === 'COMPLETED', 'it is completed', 120_000);

    expect(await read(id)).toMatchObject({
      deleted: { contacts: 1, emails: EMAILS, emailContents: EMAILS },
      cancelled: EMAILS,
      inProgress: 0,
      left: {},
    });
    expect(await accepted()).toBe(1);
    expect(await stack.count('SELECT count(*)::int FROM emails WHERE to_address = $1', [person])).toBe(0);
    expect(other.status).toBe(200);
  }, 600_000);
});
