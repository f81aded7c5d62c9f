import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Database, PausedLaneStore, WorkspaceDeletionStore } from '@posthorn/database';
import type { WorkspaceId } from '@posthorn/kernel';
import { runOperatorCommand } from '@posthorn/testing';
import { pauseSending, resumeSending } from '@posthorn/use-cases/operate';
import { emailIn } from '../../e2e/api.ts';
import { orphansOf, rowsOf } from '../../e2e/leftovers.ts';
import { type Tenant, TESTS, validEmail } from '../../e2e/stack.ts';
import { fromNow } from '../../e2e/times.ts';
import { Account } from './account.ts';
import type { Cluster } from './cluster.ts';
import { insist } from './insist.ts';
import { messageIdOf } from './outcome.ts';
import type { Random } from './random.ts';

const NAME = 'Leaving';
const EMAILS = 12;
const BETWEEN_TRIES_MS = 500;

/** Workspaces that are deleted while they send and are told of it, some of them paused from their beginning on. */
export class Departures {
  /** Of what they have sent. */
  readonly messageIds: string[] = [];
  /** Of what has waited in a paused workspace: it may never leave. */
  private readonly held = new Set<string>();
  private readonly deleted: WorkspaceId[] = [];

  constructor(
    private readonly cluster: Cluster,
    private readonly random: Random,
  ) {}

  async run(isOver: () => boolean): Promise<void> {
    while (!isOver()) {
      const account = await Account.open(this.cluster, await this.createTenant(), null);
      const { workspaceId } = account.tenant;
      const isHeld = this.random.chance(0.5);
      if (isHeld) await this.pause(workspaceId);
      for (let n = 0; n < EMAILS; n += 1) await this.send(account, n % 4 === 0, isHeld);
      await sleep(this.random.between(0, 3_000));
      if (isHeld) await this.interrupt(workspaceId);
      while (!(await this.isDeleted(workspaceId))) await sleep(BETWEEN_TRIES_MS);
      this.deleted.push(workspaceId);
    }
  }

  /** What is left of them, in words. */
  async leftovers(): Promise<string[]> {
    const { stack } = this.cluster;
    const orphans = Object.entries(await orphansOf(stack));
    const rows = await Promise.all(this.deleted.map((id) => rowsOf(stack, id)));
    const left = stack.sink.messages.map(messageIdOf).filter((id) => this.held.has(id));
    const counts = [...orphans, ...rows.flatMap((row) => Object.entries(row))].filter(
      ([, count]) => count > 0,
    );
    return [
      ...left.map((id) => `${id}: left a workspace that was paused and then deleted`),
      ...counts.map(([table, count]) => `${table}: ${count} rows of deleted workspaces`),
    ];
  }

  /** What a failed try leaves is a workspace that nobody uses. */
  private async createTenant(): Promise<Tenant> {
    for (;;) {
      const tenant = await this.cluster.stack.createTenant(NAME).catch(() => undefined);
      if (tenant !== undefined) return tenant;
      await sleep(BETWEEN_TRIES_MS);
    }
  }

  private async pause(id: WorkspaceId): Promise<void> {
    await insist(() => pauseSending(new PausedLaneStore(this.database), id, TESTS, 'They pay no more'));
  }

  /** Begins a deletion that is interrupted; then somebody resumes the workspace, who does not know of it. */
  private async interrupt(id: WorkspaceId): Promise<void> {
    await insist(() => new WorkspaceDeletionStore(this.database).close(id, TESTS, { name: NAME }));
    await resumeSending(new PausedLaneStore(this.database), id, TESTS).catch(() => undefined);
    await sleep(this.random.between(0, 2_000));
  }

  private get database(): Database {
    return this.cluster.stack.database;
  }

  private async send(account: Account, isScheduled: boolean, isHeld: boolean): Promise<void> {
    const sendAt = isScheduled ? { sendAt: fromNow(this.random.between(1_000, 60_000)) } : {};
    const email = { ...validEmail(), ...sendAt, contactProperties: { n: 1 }, idempotencyKey: randomUUID() };
    const { messageId } = emailIn(await account.post('/v1/emails', email));
    this.messageIds.push(messageId);
    if (isHeld) this.held.add(messageId);
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
