import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkspaceId } from '@posthorn/kernel';
import { runOperatorCommand } from '@posthorn/testing';
import { emailIn } from '../../e2e/api.ts';
import { orphansOf, rowsOf } from '../../e2e/leftovers.ts';
import { type Tenant, validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import { Account } from './account.ts';
import type { Cluster } from './cluster.ts';
import type { Random } from './random.ts';

const NAME = 'Leaving';
const EMAILS = 12;
const BETWEEN_TRIES_MS = 500;

/** Workspaces that are deleted while they send and are told of it. */
export class Departures {
  /** Of what they have sent. */
  readonly messageIds: string[] = [];
  private readonly deleted: WorkspaceId[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly random: Random,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const account = await Account.open(this.cluster, await this.createTenant(), null);
      for (let n = 0; n < EMAILS; n += 1) await this.send(account, n % 4 === 0);
      await sleep(this.random.between(0, 3_000));
      const { workspaceId } = account.tenant;
      while (!(await this.isDeleted(workspaceId))) await sleep(BETWEEN_TRIES_MS);
      this.deleted.push(workspaceId);
    }
  }

  /** What is left of them, in words. */
  async leftovers(): Promise<string[]> {
    const { stack } = this.cluster;
    const orphans = Object.entries(await orphansOf(stack));
    const rows = await Promise.all(this.deleted.map((id) => rowsOf(stack, id)));
    return [...orphans, ...rows.flatMap((counts) => Object.entries(counts))].flatMap(([table, count]) =>
      count > 0 ? [`${table}: ${count} rows of deleted workspaces`] : [],
    );
  }

  /** What a failed try leaves is a workspace that nobody uses. */
  private async createTenant(): Promise<Tenant> {
    for (;;) {
      const tenant = await this.cluster.stack.createTenant(NAME).catch(() => undefined);
      if (tenant !== undefined) return tenant;
      await sleep(BETWEEN_TRIES_MS);
    }
  }

  private async send(account: Account, isScheduled: boolean): Promise<void> {
    const sendAt = isScheduled ? { sendAt: fromNow(this.random.between(1_000, 60_000)) } : {};
    const email = { ...validEmail(), ...sendAt, contactProperties: { n: 1 }, idempotencyKey: randomUUID() };
    this.messageIds.push(emailIn(await account.post('/v1/emails', email)).messageId);
  }

  /** Tries to delete a workspace, as an operator does: the command fails while the database does, and can be repeated. */
  private async isDeleted(id: WorkspaceId): Promise<boolean> {
    const { databaseUrl } = this.cluster.stack;
    const flags = ['--workspace', id, '--name', NAME, '--json'];
    const { code, stdout, stderr } = await runOperatorCommand(databaseUrl, 'workspace', 'delete', ...flags);
    // The answer to the commit that deleted it was lost.
    if (code !== 0) return stderr.includes('There is no workspace');
    return (JSON.parse(stdout) as { deletedAt: string | null }).deletedAt !== null;
  }
}
