import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Api } from '../e2e/api.ts';
import { soundEmail, type Stack, until } from '../e2e/stack.ts';

const CALLERS = 6;
const BETWEEN_CALLS_MS = 20;

/** Callers who send emails over all gateways in turn, each with a key and again and again until it is accepted. */
export class CarefulCallers {
  /** The recipients of what was accepted. */
  readonly accepted: string[] = [];
  /** What else was answered. */
  readonly otherStatuses = new Set<number>();
  private isOver = false;
  private readonly load: Promise<unknown>;

  constructor(private readonly stack: Stack) {
    this.load = Promise.all(Array.from({ length: CALLERS }, (_, n) => this.call(n)));
    // Whoever waits for it is told; where a test has failed, nobody does.
    this.load.catch(() => undefined);
  }

  /** Waits until so many more are accepted, and then until so many more have arrived. */
  async untilMore(emails: number): Promise<void> {
    const { accepted } = this;
    const { messages } = this.stack.sink;
    const [acceptedBefore, arrivedBefore] = [accepted.length, messages.length];
    await until(() => accepted.length >= acceptedBefore + emails, 'emails are accepted');
    await until(() => messages.length >= arrivedBefore + emails, 'emails arrive');
  }

  /** Begins nothing more, and waits until what was begun is accepted. */
  stop(): Promise<unknown> {
    this.isOver = true;
    return this.load;
  }

  private async call(caller: number): Promise<void> {
    const { gateways, tenant } = this.stack;
    for (let n = caller; !this.isOver; n += 1) {
      const api = new Api(gateways[n % gateways.length]!.url, tenant.keys.apiUser);
      const email = { ...soundEmail(), idempotencyKey: randomUUID() };
      for (let status = 0; status !== 200; await sleep(BETWEEN_CALLS_MS)) {
        ({ status } = await api.post('/v1/emails', email));
        if (status === 200) this.accepted.push(email.to);
        else this.otherStatuses.add(status);
      }
    }
  }
}
