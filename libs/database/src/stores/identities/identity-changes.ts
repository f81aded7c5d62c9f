import { idFromUuid, type IdentityId, timeOf, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, WORKSPACE_LIMITS } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { insertKeys, type NewDkimKey } from './dkim-key-changes.ts';
import { type Identity, identityOf } from './identity-row.ts';
import { type MailRefusal, mailRefusal } from '../mail-refusal.ts';
import type { LinkMail } from '../pending-mail-store.ts';
import { dropPendingLinkMails, insertLink } from './verification-links.ts';

/** Why an identity was not added; nothing has changed. */
export type IdentityRefusal =
  /** The workspace already has it. */
  | { readonly refused: 'exists'; readonly id: IdentityId }
  /** The workspace has the maximum. */
  | { readonly refused: 'too_many' }
  | MailRefusal;

interface NewAddress {
  readonly id: IdentityId;
  readonly address: string;
  readonly link: LinkMail;
}

interface NewDomain {
  readonly id: IdentityId;
  readonly domain: string;
  readonly keys: readonly NewDkimKey[];
}

/** Changes identities: each change in a transaction with its audit log entry; changes within a workspace are serialized. */
export class IdentityChanges {
  constructor(private readonly database: Database) {}

  /** Adds an address together with its verification link and the pending mail, so that no address is without them. */
  addAddress(
    workspaceId: WorkspaceId,
    actor: Actor,
    { id, address, link }: NewAddress,
  ): Promise<Identity | IdentityRefusal> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const newLink = { ...link, workspaceId, identityId: id, address };
      const refusal =
        (await refusalOf(transaction, workspaceId, address)) ??
        (await mailRefusal(transaction, now, 'verification_links', newLink));
      if (refusal !== undefined) return refusal;
      const added = await insert(transaction, now, actor, {
        id,
        workspaceId,
        kind: 'address',
        value: address,
      });
      await insertLink(transaction, now, newLink);
      return added;
    });
  }

  /** Adds a domain with its keys. Its check is due when their records may be there. */
  addDomain(
    workspaceId: WorkspaceId,
    actor: Actor,
    { id, domain, keys }: NewDomain,
  ): Promise<Identity | IdentityRefusal> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const refusal = await refusalOf(transaction, workspaceId, domain);
      if (refusal !== undefined) return refusal;
      const added = await insert(transaction, now, actor, { id, workspaceId, kind: 'domain', value: domain });
      await insertKeys(transaction, now, id, keys);
      return added;
    });
  }

  /** Why a domain or address could not be added at the moment; undefined when it could. */
  refusal(workspaceId: WorkspaceId, value: string): Promise<IdentityRefusal | undefined> {
    return refusalOf(this.database.prisma, workspaceId, value);
  }

  /** Adds keys to a domain of this workspace that has none, because an operator added it; existing keys are kept. */
  async giveKeys(workspaceId: WorkspaceId, id: IdentityId, keys: readonly NewDkimKey[]): Promise<void> {
    const now = this.database.clock.now();
    const where = {
      id: uuidOf(id),
      workspaceId: uuidOf(workspaceId),
      kind: 'domain',
      dkimKeys: { none: {} },
    } as const;
    await changeWorkspace(this.database, workspaceId, async (transaction) => {
      if ((await transaction.identity.count({ where })) === 1) await insertKeys(transaction, now, id, keys);
    });
  }

  /** Deletes an identity with its keys, and returns it as it was; undefined when the workspace has none with this id. */
  delete(workspaceId: WorkspaceId, actor: Actor, id: IdentityId): Promise<Identity | undefined> {
    const nowMs = this.database.clock.nowMs();
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId) };
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      if ((await transaction.identity.count({ where })) === 0) return undefined;
      await dropPendingLinkMails(transaction, id);
      const deleted = identityOf(await transaction.identity.delete({ where }));
      await recordAudit(transaction, nowMs, {
        workspaceId,
        action: 'identity.deleted',
        actor,
        subjectId: id,
        detail: { kind: deleted.kind, value: deleted.value },
      });
      return deleted;
    });
  }
}

/** Valid for as long as the workspace is locked. */
async function refusalOf(
  transaction: Pick<Transaction, 'identity'>,
  workspaceId: WorkspaceId,
  value: string,
): Promise<IdentityRefusal | undefined> {
  const workspace = uuidOf(workspaceId);
  const there = await transaction.identity.findFirst({
    where: { workspaceId: workspace, value },
    select: { id: true },
  });
  if (there !== null) return { refused: 'exists', id: idFromUuid('idn', there.id) };
  const count = await transaction.identity.count({ where: { workspaceId: workspace } });
  return count < WORKSPACE_LIMITS.identities ? undefined : { refused: 'too_many' };
}

async function insert(
  transaction: Transaction,
  now: Date,
  actor: Actor,
  { id, workspaceId, kind, value }: Pick<Identity, 'id' | 'workspaceId' | 'kind' | 'value'>,
): Promise<Identity> {
  // The time inside the id, by which lists are ordered; generating keys has taken some time since.
  const createdAt = new Date(timeOf(id));
  const data = { id: uuidOf(id), workspaceId: uuidOf(workspaceId), kind, value, createdAt };
  const added = identityOf(await transaction.identity.create({ data }));
  await recordAudit(transaction, now.getTime(), {
    workspaceId,
    action: 'identity.created',
    actor,
    subjectId: id,
    detail: { kind, value },
  });
  return added;
}
