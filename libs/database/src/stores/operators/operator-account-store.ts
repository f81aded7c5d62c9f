import { newUuid } from '@posthorn/kernel';
import type { Actor, OperatorRole } from '@posthorn/domain';
import { awaitStandby } from '../../transactions/await-standby.ts';
import type { Database } from '../../connection/connection.ts';
import { transact, type Transaction } from '../../transactions/transaction.ts';
import { type AuditedChange, ofSystem, recordAudit } from '../workspaces/audit-log-store.ts';

/** Who may use the dashboard. */
export interface OperatorAccount {
  readonly name: string;
  readonly role: OperatorRole;
  readonly createdAt: Date;
  /** Null: never. */
  readonly signedInAt: Date | null;
}

const SHOWN = { name: true, role: true, createdAt: true, signedInAt: true } as const;

/** Accounts of the dashboard. Each change is recorded in the system's audit log. */
export class OperatorAccountStore {
  constructor(private readonly database: Database) {}

  /** Adds an account; false when there is one of that name. */
  create(actor: Actor, name: string, role: OperatorRole, passwordHash: string): Promise<boolean> {
    const change = ofSystem('operator.created', actor, { name, role });
    return this.change(change, async (transaction, nowMs) => {
      const data = { id: newUuid(nowMs), name, role, passwordHash };
      const { count } = await transaction.operatorAccount.createMany({ data, skipDuplicates: true });
      return count === 1;
    });
  }

  list(): Promise<OperatorAccount[]> {
    return this.database.prisma.operatorAccount.findMany({ select: SHOWN, orderBy: { name: 'asc' } });
  }

  async isEmpty(): Promise<boolean> {
    return (await this.database.prisma.operatorAccount.findFirst({ select: { id: true } })) === null;
  }

  /** Sets an account's password and ends its sessions; false when there is none of that name. */
  setPassword(actor: Actor, name: string, passwordHash: string): Promise<boolean> {
    return this.change(ofSystem('operator.password_changed', actor, { name }), async (transaction) => {
      const { count } = await transaction.operatorAccount.updateMany({
        where: { name },
        data: { passwordHash },
      });
      await transaction.operatorSession.deleteMany({ where: { account: { name } } });
      return count > 0;
    });
  }

  /** Removes an account and its sessions; false when there is none of that name. */
  remove(actor: Actor, name: string): Promise<boolean> {
    return this.change(ofSystem('operator.deleted', actor, { name }), async (transaction) => {
      return (await transaction.operatorAccount.deleteMany({ where: { name } })).count > 0;
    });
  }

  async passwordHashOf(name: string): Promise<string | undefined> {
    const account = await this.database.prisma.operatorAccount.findFirst({
      where: { name },
      select: { passwordHash: true },
    });
    return account?.passwordHash;
  }

  /** Runs the work, and records it in the audit log if it has changed anything. */
  private change(
    change: AuditedChange,
    work: (transaction: Transaction, nowMs: number) => Promise<boolean>,
  ): Promise<boolean> {
    const nowMs = this.database.clock.nowMs();
    return transact(this.database, async (transaction) => {
      const isChanged = await work(transaction, nowMs);
      if (isChanged) await recordAudit(transaction, nowMs, change);
      else await awaitStandby(transaction);
      return isChanged;
    });
  }
}
