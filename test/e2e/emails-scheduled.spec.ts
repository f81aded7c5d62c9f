import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_MOVES } from '@posthorn/domain';
import { type EmailId, newId, uuidOf } from '@posthorn/kernel';
import { type AcceptedEmail, type Answer, emailIn, isReplay, type ShownEmail, statusesOf } from './api.ts';
import { headerValues } from './mail.ts';
import { newRecipient, validEmail, Stack } from './stack.ts';
import { DAY_MS, fromNow, MINUTE_MS, toSecond } from './times.ts';

/** Soon, but late enough for the steps before on a busy machine. */
const SOON_MS = 5_000;

const stack = Stack.forTests({ gateways: 2 });

async function schedule(inMs = DAY_MS, change: object = {}): Promise<AcceptedEmail> {
  return emailIn(await stack.send({ sendAt: fromNow(inMs), ...change }));
}

function cancel(id: string, gateway = 0): Promise<Answer> {
  return stack.api(gateway).post(`/v1/emails/${id}/cancel`, new Uint8Array());
}

function move(id: string, sendAt: string, gateway = 0): Promise<Answer> {
  return stack.api(gateway).post(`/v1/emails/${id}`, { sendAt });
}

/** The monthly usage of the workspace. */
function used(): Promise<number> {
  return stack.count('SELECT sum(accepted)::int AS count FROM usage');
}

/** Runs `work` while the clock cannot make due emails ready, however long it takes. */
async function withClockStopped(action: () => Promise<void>): Promise<void> {
  stack.scheduler.program.kill('SIGSTOP');
  try {
    await action();
  } finally {
    stack.scheduler.program.kill('SIGCONT');
  }
}

const eventsOf = ({ timeline }: ShownEmail): string[] => timeline.map(({ event }) => event);

const CONFLICT = (status: string, wish: string) => ({
  statusCode: 409,
  error: 'Conflict',
  message: `The email is \`${status}\`; only while it is \`SCHEDULED\`, before it is taken up for sending, can it be ${wish}`,
});

describe('POST /v1/emails/{id}/cancel', () => {
  it('E16, S18, S13: cancels a scheduled email, which is never sent and does not count', async () => {
    const before = await used();
    const to = newRecipient();
    await withClockStopped(async () => {
      const { id } = await schedule(SOON_MS, { to });
      expect(await used()).toBe(before + 1);
      const answer = await cancel(id, 1);
      expect(answer.status).toBe(200);
      const shown = emailIn<ShownEmail>(answer);
      expect(shown).toMatchObject({ id, status: 'CANCELLED', sentAt: null });
      expect(eventsOf(shown)).toEqual(['SCHEDULED', 'CANCELLED']);
      expect(await used()).toBe(before);
      expect(await stack.show(id)).toEqual(shown);
    });
    await sleep(SOON_MS + 1_000);
    expect(stack.mailsTo(to)).toEqual([]);
  });

  it('S18, G3: is 409 for a cancelled one, as is moving it', async () => {
    const { id } = await schedule();
    await cancel(id);
    const again = await cancel(id, 1);
    expect([again.status, again.body]).toEqual([409, CONFLICT('CANCELLED', 'cancelled')]);
    const moved = await move(id, fromNow(DAY_MS));
    expect([moved.status, moved.body]).toEqual([409, CONFLICT('CANCELLED', 'moved')]);
  });

  it('S18, G3: is 409 for moving one that was moved too often, which can still be cancelled', async () => {
    const { id } = await schedule();
    await stack.database.pool.query('UPDATE outbox SET claims = $2 WHERE subject_id = $1', [
      uuidOf(id as EmailId),
      MAX_MOVES,
    ]);
    const { status, body } = await move(id, fromNow(DAY_MS));
    expect([status, body]).toMatchObject([
      409,
      { message: expect.stringMatching(/moved 10000 times.*cancel it/) },
    ]);
    expect((await cancel(id)).status).toBe(200);
  });

  it('S18, G3: is 409 for one that was sent, as is moving it to any time', async () => {
    const { id, to } = emailIn(await stack.send());
    await stack.onlyMailTo(to);
    expect([(await cancel(id)).body, (await move(id, fromNow(DAY_MS))).body]).toEqual([
      CONFLICT('SENT', 'cancelled'),
      CONFLICT('SENT', 'moved'),
    ]);
    expect((await move(id, fromNow(97 * DAY_MS))).status).toBe(409);
  });

  it('S11, S18: a repeated send gets the first answer, although its email is cancelled', async () => {
    const email = { ...validEmail(), sendAt: fromNow(DAY_MS), idempotencyKey: `cancelled ${newRecipient()}` };
    const first = await stack.api().post('/v1/emails', email);
    await cancel(emailIn(first).id);
    const again = await stack.api(1).post('/v1/emails', email);
    expect([isReplay(again), again.text]).toEqual([true, first.text]);
  });
});

describe('POST /v1/emails/{id}', () => {
  it('E15, S18: moves a scheduled email to another time', async () => {
    const { id } = await schedule();
    const sendAt = fromNow(50 * DAY_MS);
    const answer = await move(id, sendAt, 1);
    expect(answer.status).toBe(200);
    const shown = emailIn<ShownEmail>(answer);
    expect(shown).toMatchObject({ id, status: 'SCHEDULED', sendAt });
    expect(shown.timeline).toMatchObject([{ event: 'SCHEDULED' }, { event: 'RESCHEDULED', sendAt }]);
    expect((await stack.outboxRow(id))!.due_at).toEqual(new Date(sendAt));
  });

  it('S18: to an earlier time: it is sent earlier, with its new time as Date', async () => {
    const { id, to } = await schedule();
    const sendAt = fromNow(SOON_MS);
    expect((await move(id, sendAt)).status).toBe(200);
    const mail = await stack.onlyMailTo(to);
    expect(mail.receivedAt.getTime()).toBeGreaterThanOrEqual(Date.parse(sendAt) - 50);
    expect(new Date(headerValues(mail, 'Date')[0]!).getTime()).toBe(toSecond(sendAt));
    expect(eventsOf(await stack.show(id))).toEqual(['SCHEDULED', 'RESCHEDULED', 'SENT']);
  });

  it('S18: to a later time: it is not sent at its first time', async () => {
    const to = newRecipient();
    await withClockStopped(async () => {
      const { id } = await schedule(SOON_MS, { to });
      expect((await move(id, fromNow(DAY_MS))).status).toBe(200);
    });
    await sleep(SOON_MS + 1_000);
    expect(stack.mailsTo(to)).toEqual([]);
  });

  it('S10: up to five minutes in the past means now', async () => {
    const { id, to } = await schedule();
    expect((await move(id, fromNow(-4 * MINUTE_MS))).status).toBe(200);
    await stack.onlyMailTo(to);
    const { sendAt } = await stack.show(id);
    expect(Math.abs(Date.parse(sendAt!) - Date.now())).toBeLessThan(MINUTE_MS);
  });

  it('S11: keeps the idempotency key until 30 days after the new time', async () => {
    const idempotencyKey = `moved ${newRecipient()}`;
    const { id } = await schedule(DAY_MS, { idempotencyKey });
    const sendAt = fromNow(80 * DAY_MS);
    await move(id, sendAt);
    const kept = `SELECT extract(epoch FROM expires_at - $2::timestamptz)::int AS count FROM idempotency_keys WHERE key = $1`;
    expect(await stack.count(kept, [idempotencyKey, sendAt])).toBe((30 * DAY_MS) / 1_000);
  });

  it.each<[string, unknown, RegExp]>([
    [
      'no time',
      {},
      /^`sendAt` is missing; give a date, a time and an offset or `Z`, as in `[-\d]+T[:\d]+Z`$/,
    ],
    ['null', { sendAt: null }, /^`sendAt` is null/],
    ['a number', { sendAt: 7 }, /^`sendAt` is a number; give a date, a time and an offset/],
    [
      'no offset',
      { sendAt: '2030-01-31T09:30:00' },
      /^`sendAt` has no offset, .* add one, such as `\+02:00`, or `Z` for UTC$/,
    ],
    ['no date', { sendAt: 'tomorrow' }, /^`sendAt` is not a time; give a date, a time and an offset/],
    [
      'too far ahead',
      { sendAt: fromNow(97 * DAY_MS) },
      /^`sendAt` is 97 days ahead; at most 90 are allowed$/,
    ],
    [
      'long past',
      { sendAt: fromNow(-7 * MINUTE_MS) },
      /^`sendAt` is \d+ minutes in the past; give a future time, or the time of now to send it now$/,
    ],
    ['another field', { sendAt: fromNow(DAY_MS), to: 'a@example.com' }, /`to` is not a known field/],
  ])('S10, S18, G4: is 400 for %s, and moves nothing', async (_what, body, message) => {
    const { id } = await schedule();
    const before = await stack.show(id);
    const answer = await stack.api().post(`/v1/emails/${id}`, body);
    expect([answer.status, answer.body['message']]).toEqual([400, expect.stringMatching(message)]);
    expect(await stack.show(id)).toEqual(before);
  });

  it('G3: is 404 for an unknown id, whatever the time', async () => {
    const id = newId('trs', Date.now());
    const answers = [await move(id, fromNow(DAY_MS)), await move(id, fromNow(97 * DAY_MS)), await cancel(id)];
    expect(statusesOf(answers)).toEqual([404, 404, 404]);
  });
});

describe('Concurrent calls on two gateways while emails fall due', () => {
  const COUNT = 40;

  /** Emails of which the first two are due long after the calls, and the others at that time. */
  async function scheduleAll(dueAt: number): Promise<AcceptedEmail[]> {
    const sendAt = new Date(dueAt).toISOString();
    return Promise.all(
      Array.from({ length: COUNT }, (_, n) => (n < 2 ? schedule() : schedule(0, { sendAt }))),
    );
  }

  /**
   * Waits for the moment of the n-th call: the first two come at once, the last two when theirs have left, and the others over the half
   * second before and after, so that some are too early, some too late, and some just then.
   */
  async function moment(n: number, dueAt: number, { to }: AcceptedEmail): Promise<void> {
    if (n < 2) return;
    if (n >= COUNT - 2) await stack.onlyMailTo(to);
    else await sleep(dueAt - Date.now() - 500 + (n * 1_000) / COUNT);
  }

  it('S18, S13: each email is cancelled by one call and never sent, or sent once and cancelled by none', async () => {
    const before = await used();
    const dueAt = Date.now() + SOON_MS;
    const emails = await scheduleAll(dueAt);
    const answers = await Promise.all(
      emails.map(async (email, n) => {
        await moment(n, dueAt, email);
        const { id } = email;
        return statusesOf(await Promise.all([cancel(id, 0), cancel(id, 1)])).sort();
      }),
    );
    const cancelled = answers.filter(([first]) => first === 200).length;
    expect([cancelled > 0, cancelled < COUNT]).toEqual([true, true]);
    for (const [n, email] of emails.entries()) {
      if (answers[n]![0] === 200) {
        expect(answers[n]).toEqual([200, 409]);
        expect((await stack.show(email.id)).status).toBe('CANCELLED');
        continue;
      }
      expect(answers[n]).toEqual([409, 409]);
      await stack.onlyMailTo(email.to);
    }
    for (const [n, { to }] of emails.entries())
      if (answers[n]![0] === 200) expect(stack.mailsTo(to)).toEqual([]);
    expect(await used()).toBe(before + COUNT - cancelled);
  });

  it('S18: each email is moved and waits, or it was too late and is sent; cancelled ones are never sent', async () => {
    const dueAt = Date.now() + SOON_MS;
    const later = fromNow(DAY_MS);
    const emails = await scheduleAll(dueAt);
    const answers = await Promise.all(
      emails.map(async (email, n) => {
        await moment(n, dueAt, email);
        const { id } = email;
        const cancelling = n % 4 === 0 ? cancel(id, 1) : undefined;
        return { moved: (await move(id, later)).status, cancelled: (await cancelling)?.status };
      }),
    );
    for (const [n, { id, to }] of emails.entries()) {
      const { moved, cancelled } = answers[n]!;
      if (moved === 409 && cancelled !== 200) await stack.onlyMailTo(to);
      const { status, sentAt } = await stack.show(id);
      const expected = cancelled === 200 ? 'CANCELLED' : moved === 200 ? 'SCHEDULED' : 'SENT';
      expect([n, status, sentAt === null]).toEqual([n, expected, expected !== 'SENT']);
      expect(stack.mailsTo(to)).toHaveLength(expected === 'SENT' ? 1 : 0);
    }
    expect(new Set(answers.map(({ moved }) => moved))).toEqual(new Set([200, 409]));
  });
});

describe('With a clock that does not tick', () => {
  it('S18: an email that is moved to now is sent at once, because its lane is rung', async () => {
    await withClockStopped(async () => {
      const { id, to } = await schedule();
      expect((await move(id, fromNow(0))).status).toBe(200);
      await stack.onlyMailTo(to);
    });
  });
});
