import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { runOperatorCommand } from '@posthorn/testing';
import { type Answer, emailIn } from '../../e2e/api.ts';
import { mentionsOf } from '../../e2e/mentions.ts';
import { validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import type { Account } from './account.ts';
import type { Cluster } from './cluster.ts';
import type { Random } from './random.ts';

/** In the addresses of all who are erased, and nowhere else. */
const MARK = 'erased-q7zx';
const EMAILS = 5;
const BETWEEN_TRIES_MS = 500;

const erasureIn = ({ body }: Answer): { id: string; status: string; inProgress: number } =>
  body['erasure'] as ReturnType<typeof erasureIn>;

/** Persons who are erased while they are sent emails, by an operator or over HTTP. */
export class Erasures {
  /** Of what they were sent. */
  readonly messageIds: string[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly account: Account,
    private readonly random: Random,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const to = `${MARK}-${randomBytes(6).toString('hex')}@receiver.example`;
      for (let n = 0; n < EMAILS; n += 1) await this.send(to, n % 3 === 0);
      await sleep(this.random.between(0, 3_000));
      const erase = this.random.chance(0.5) ? this.eraseByCommand : this.eraseByRequest;
      while (!(await erase(to))) await sleep(BETWEEN_TRIES_MS);
    }
  }

  /** Where they are still mentioned, in words. */
  async leftovers(): Promise<string[]> {
    const places = await mentionsOf(this.cluster.stack, MARK);
    if (this.messageIds.length === 0) return ['nobody was erased'];
    return places.map((place) => `${place}: mentions somebody who was erased`);
  }

  private async send(to: string, isScheduled: boolean): Promise<void> {
    const sendAt = isScheduled ? { sendAt: fromNow(this.random.between(1_000, 10_000)) } : {};
    const contact = { contactProperties: { address: to } };
    const email = { ...validEmail(), to, ...sendAt, ...contact, idempotencyKey: randomUUID() };
    this.messageIds.push(emailIn(await this.account.post('/v1/emails', email)).messageId);
  }

  /** Tries it as an operator does: the command fails while the database does, and can be repeated. @returns whether nothing was in progress */
  private readonly eraseByCommand = async (to: string): Promise<boolean> => {
    const { databaseUrl } = this.cluster.stack;
    const { code, stdout } = await runOperatorCommand(databaseUrl, 'erase-recipient', to, '--json');
    return code === 0 && (JSON.parse(stdout) as { inProgress: number }).inProgress === 0;
  };

  /** Tries it as a workspace does. @returns whether nothing was in progress */
  private readonly eraseByRequest = async (to: string): Promise<boolean> => {
    const options = { key: this.account.tenant.keys.editor };
    const { id } = erasureIn(await this.account.post('/v1/erasures', { email: to }, options));
    for (;;) {
      const { status, inProgress } = erasureIn(await this.account.get(`/v1/erasures/${id}`, options));
      if (status === 'COMPLETED') return inProgress === 0;
      await sleep(BETWEEN_TRIES_MS);
    }
  };
}
