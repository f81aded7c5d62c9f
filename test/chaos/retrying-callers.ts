import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../e2e/api.ts';
import { validEmail, type Stack, until } from '../e2e/stack.ts';

const CALLERS = 6;
const BETWEEN_CALLS_MS = 20;

/** Concurrent callers that send emails through all gateways in turn. Each email has an idempotency key and is retried until it is accepted. */
export class RetryingCallers {
  /** The recipients of the accepted emails. */
  readonly accepted: string[] = [];
  /** The statuses of all other answers. */
  readonly otherStatuses = new Set<number>();
  private isOver = false;
  private readonly load: Promise<unknown>;

  constructor(private readonly stack: Stack) {
    this.load = Promise.all(Array.from({ length: CALLERS }, (_, n) => this.call(n)));
    // `stop` reports a failure; without this, it would be an unhandled rejection where a failed test never calls `stop`.
    this.load.catch(() => undefined);
  }

  /** Waits until this many more emails are accepted, and then until this many more have arrived. */
  async untilMore(emails: number): Promise<void> {
    const { accepted } = this;
    const { messages } = this.stack.sink;
    const [acceptedBefore, arrivedBefore] = [accepted.length, messages.length];
    await until(() => accepted.length >= acceptedBefore + emails, 'emails are accepted');
    await until(() => messages.length >= arrivedBefore + emails, 'emails arrive');
  }

  /** Begins no new emails, and waits until those that were begun are accepted. */
  stop(): Promise<unknown> {
    this.isOver = true;
    return this.load;
  }

  private async call(caller: number): Promise<void> {
    const { gateways, tenant } = this.stack;
    for (let n = caller; !this.isOver; n += 1) {
      const api = new Api(gateways[n % gateways.length]!.url, tenant.keys.apiUser);
      const email = { ...validEmail(), idempotencyKey: randomUUID() };
      for (let status = 0; status !== 200; await sleep(BETWEEN_CALLS_MS)) {
        ({ status } = await api.post('/v1/emails', email));
        if (status === 200) this.accepted.push(email.to);
        else this.otherStatuses.add(status);
      }
    }
  }
}
