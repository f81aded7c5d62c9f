import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type AcceptedEmail, type Answer, emailIn } from '../../e2e/api.ts';
import { validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import type { Account } from './account.ts';
import type { Random } from './random.ts';

/** When a call was made, and when it was answered. */
interface Call {
  readonly begunMs: number;
  readonly answeredMs: number;
}

interface Acceptance extends Call {
  readonly id: string;
}

/** An email that a client has sent, perhaps several times, and what it was told; its recipient has no other. */
export interface SentEmail {
  readonly to: string;
  readonly isKeyed: boolean;
  readonly isScheduled: boolean;
  readonly acceptances: Acceptance[];
  /** The calls that have moved it, answered or not. */
  readonly moves: Call[];
  /** The calls that have cancelled it, or asked for it. */
  readonly cancellations: (Call & { readonly id: string; readonly isCancelled: boolean })[];
  /** Sends it again, with the same idempotency key. */
  readonly repeat: () => Promise<void>;
}

/** So many of the newest emails are sent again, moved and cancelled. */
const NEWEST = 40;

/** Sends emails, and does not know that the database is lost and restored. */
export class LosingClient {
  constructor(
    private readonly account: Account,
    /** Of all clients. */
    private readonly sent: SentEmail[],
    private readonly wrong: string[],
    private readonly random: Random,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    const acts = [this.sendOne, this.sendOne, this.sendOne, this.sendBatch, this.repeat, this.change];
    for (; !isOver(); await sleep(this.random.between(20, 150))) await this.random.pick(acts).call(this);
  }

  private async sendOne(): Promise<void> {
    const { random } = this;
    const isKeyed = random.chance(0.7);
    const isScheduled = random.chance(0.5);
    const email = {
      ...validEmail(),
      ...(isScheduled ? { sendAt: fromNow(random.between(500, 15_000)) } : {}),
      ...(isKeyed ? { idempotencyKey: randomUUID() } : {}),
    };
    const [sent] = this.note([email.to], isKeyed, isScheduled, async () => {
      const call = await this.timed(() =>
        isKeyed
          ? this.account.post('/v1/emails', email)
          : this.account.caller.once((api) => api.post('/v1/emails', email), random.between(0, 1)),
      );
      if (call.answer === undefined || !this.expects(call.answer, 200)) return;
      sent!.acceptances.push({ ...call, id: emailIn(call.answer).id });
    });
    await sent!.repeat();
  }

  private async sendBatch(): Promise<void> {
    const emails = Array.from({ length: this.random.between(2, 8) }, validEmail);
    const headers = { 'Idempotency-Key': randomUUID() };
    const sent = this.note(
      emails.map(({ to }) => to),
      true,
      false,
      async () => {
        const call = await this.timed(() => this.account.post('/v1/emails/batch', { emails }, { headers }));
        if (!this.expects(call.answer!, 200)) return;
        const { successful } = call.answer!.body['emails'] as { successful: readonly AcceptedEmail[] };
        for (const { id, to } of successful)
          sent.find((email) => email.to === to)!.acceptances.push({ ...call, id });
        if (successful.length !== emails.length) this.wrong.push(call.answer!.text);
      },
    );
    await sent[0]!.repeat();
  }

  private async repeat(): Promise<void> {
    await this.pickOne(({ isKeyed }) => isKeyed)?.repeat();
  }

  /** Moves or cancels one that is scheduled, or was. */
  private async change(): Promise<void> {
    const email = this.pickOne(({ isScheduled, acceptances }) => isScheduled && acceptances.length > 0);
    if (email === undefined) return;
    const { id } = email.acceptances.at(-1)!;
    const path = `/v1/emails/${id}`;
    const isMoved = this.random.chance(0.6);
    const change = { sendAt: fromNow(this.random.between(-1_000, 15_000)) };
    const call = await this.timed(() =>
      isMoved ? this.account.post(path, change) : this.account.post(`${path}/cancel`, {}),
    );
    // 404: it was accepted in a time that is lost.
    this.expects(call.answer!, 200, 404, 409);
    if (isMoved) email.moves.push(call);
    else email.cancellations.push({ ...call, id, isCancelled: call.answer!.status === 200 });
  }

  private note(
    recipients: readonly string[],
    isKeyed: boolean,
    isScheduled: boolean,
    repeat: () => Promise<void>,
  ): SentEmail[] {
    const sent = recipients.map((to) => ({
      to,
      isKeyed,
      isScheduled,
      acceptances: [],
      moves: [],
      cancellations: [],
      repeat,
    }));
    this.sent.push(...sent);
    return sent;
  }

  private pickOne(isMeant: (email: SentEmail) => boolean): SentEmail | undefined {
    const meant = this.sent.filter(isMeant).slice(-NEWEST);
    return meant.length === 0 ? undefined : this.random.pick(meant);
  }

  private async timed(
    call: () => Promise<Answer | undefined>,
  ): Promise<Call & { answer: Answer | undefined }> {
    const begunMs = Date.now();
    const answer = await call();
    return { begunMs, answeredMs: Date.now(), answer };
  }

  private expects(answer: Answer, ...statuses: readonly number[]): boolean {
    const isRight = statuses.includes(answer.status);
    if (!isRight) this.wrong.push(`${answer.status}: ${answer.text}`);
    return isRight;
  }
}
