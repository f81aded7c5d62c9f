import { createTransport } from 'nodemailer';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SinkMessage } from '@posthorn/testing';
import { complaint, notification } from '../../e2e/returned-mail.ts';
import type { Cluster } from './cluster.ts';
import type { History } from './history.ts';
import { messageIdOf } from './outcome.ts';
import type { Random } from './random.ts';

/** What comes back about an email, by the kind of report that it is. */
const REPORTS: Readonly<Record<string, (to: string) => string>> = {
  failed: (to) => notification({ to }, 'failed', '5.1.1', '550 5.1.1 User unknown'),
  delayed: (to) => notification({ to }, 'delayed', '4.2.2', '452 4.2.2 Mailbox full'),
  delivered: (to) => notification({ to }, 'delivered', '2.0.0', '250 2.0.0 OK'),
  complaint,
};
const KINDS = Object.keys(REPORTS);

/** The share of the mails about which something comes back, and of those of them about which something else follows. */
const SHARE = 0.2;
const BETWEEN_LOOKS_MS = 20;
const BETWEEN_TRIES_MS = 300;

/** Receiving servers that report what became of mails, some of them before the sender has recorded that they were taken. */
export class Returns {
  private seen = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly history: History,
    private readonly random: Random,
  ) {}

  /** Until it is over and everything that was begun is taken. */
  async run(isOver: () => boolean): Promise<void> {
    const begun: Promise<void>[] = [];
    for (; !isOver(); await sleep(BETWEEN_LOOKS_MS)) {
      const arrived = this.cluster.stack.sink.messages.slice(this.seen);
      this.seen += arrived.length;
      for (const message of arrived) if (this.random.chance(SHARE)) begun.push(this.report(message));
    }
    await Promise.all(begun);
  }

  private async report(message: SinkMessage): Promise<void> {
    const { random, history } = this;
    const to = message.to[0]!;
    const kinds = [random.pick(KINDS), ...(random.chance(SHARE) ? [random.pick(KINDS)] : [])];
    const first = random.between(0, 1);
    await sleep(random.chance(0.5) ? 0 : random.between(0, 5_000));
    // Before it is answered: what it causes may show earlier.
    history.returned.add(to);
    for (const kind of kinds)
      if (await this.isTaken(message.from, REPORTS[kind]!(to), first))
        history.reports.push({ messageId: messageIdOf(message), kind });
  }

  /** Brings a mail to one server after the other until it is taken. @returns false if its address is refused, because its email is gone */
  private async isTaken(to: string, raw: string, first: number): Promise<boolean> {
    const ports = this.cluster.inboundPorts;
    for (let n = first; ; n += 1) {
      const transport = createTransport({
        host: '127.0.0.1',
        port: ports[n % ports.length]!,
        ignoreTLS: true,
      });
      try {
        await transport.sendMail({ envelope: { from: '', to: [to] }, raw });
        return true;
      } catch (error) {
        if ((error as { responseCode?: number }).responseCode === 550) return false;
      } finally {
        transport.close();
      }
      await sleep(BETWEEN_TRIES_MS);
    }
  }
}
