import { type IdentityId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Actor,
  decideRotation,
  type DomainKey,
  FIRST_CHECK_AFTER_SECONDS,
  type Rotation,
} from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { identityWithRecords, lockIdentity, stagedKey, WITH_RECORDS } from './identity-row.ts';

/** A key of a domain as it is stored. */
export interface NewDkimKey extends DomainKey {
  /** The uuid of its row, which its encrypted private key is bound to. */
  readonly id: string;
  readonly sealedPrivateKey: Buffer;
}

/** Rotates keys; the later stages are decided by checks of the DNS (`DomainCheckStore`). */
export class DkimKeyChanges {
  constructor(private readonly database: Database) {}

  /**
   * Replaces the keys of a domain of this workspace, each at the stage that is decided here; the domain's check is postponed until the new
   * records may be there, and the result of a check in progress is discarded.
   *
   * @returns what was decided; undefined when the workspace has no such domain
   */
  async rotateKeys(
    workspaceId: WorkspaceId,
    actor: Actor,
    id: IdentityId,
    keys: readonly NewDkimKey[],
  ): Promise<Rotation | undefined> {
    const now = this.database.clock.now();
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId), kind: 'domain' } as const;
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      await lockIdentity(transaction, id);
      const row = await transaction.identity.findFirst({ where, include: WITH_RECORDS });
      if (row === null) return undefined;
      const domain = identityWithRecords(row);
      const rotation = decideRotation(domain.keys.map(stagedKey), now.getTime());
      if (rotation.kind !== 'begin') return rotation;
      await transaction.dkimKey.deleteMany({ where: { id: { in: [...rotation.dropped] } } });
      const staged = keys.map((key) => ({ ...key, stage: rotation.stages[key.algorithm] }));
      await insertKeys(transaction, now, id, staged);
      const selectors = staged.map(({ selector }) => selector);
      const detail = { kind: domain.kind, value: domain.value, selectors };
      await recordAudit(transaction, now.getTime(), {
        workspaceId,
        action: 'identity.rotation_begun',
        actor,
        subjectId: id,
        detail,
      });
      return rotation;
    });
  }
}

/** Adds keys to a domain that the transaction has locked; the domain's check is due when their records may be there. */
export async function insertKeys(
  transaction: Transaction,
  now: Date,
  identityId: IdentityId,
  keys: readonly NewDkimKey[],
): Promise<void> {
  const identity = uuidOf(identityId);
  await transaction.dkimKey.createMany({
    data: keys.map(({ id, algorithm, selector, publicKey, stage, sealedPrivateKey }) => ({
      id,
      identityId: identity,
      algorithm,
      selector,
      publicKey,
      stage,
      createdAt: now,
      privateKey: new Uint8Array(sealedPrivateKey),
    })),
  });
  const dueAt = new Date(now.getTime() + FIRST_CHECK_AFTER_SECONDS * 1_000);
  await transaction.domainCheck.upsert({
    where: { identityId: identity },
    create: { identityId: identity, dueAt },
    update: { claims: { increment: 1 }, rounds: 0, dueAt },
  });
}
