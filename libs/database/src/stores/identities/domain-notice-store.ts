import type { DomainNotice } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { identityWithRecords, type IdentityWithRecords, WITH_RECORDS } from './identity-row.ts';
import { addressed, ADDRESSED_WORKSPACE, noticesAfter, type PendingNotice } from '../pending-notice.ts';

/** A notice about a domain that the editors of its workspace have not been sent yet. */
export interface PendingDomainNotice extends PendingNotice {
  /** The domain, with the results of its last check. */
  readonly domain: IdentityWithRecords;
  readonly notice: DomainNotice;
}

/** The notices about domains that still have to be mailed. They are few, and read now and then. */
export class DomainNoticeStore {
  constructor(private readonly database: Pick<Database, 'prisma'>) {}

  /**
   * The next notices of all workspaces, ordered by id.
   *
   * @param after the last one that was read; null: from the beginning
   */
  async pending(after: string | null, limit: number): Promise<PendingDomainNotice[]> {
    const rows = await this.database.prisma.domainNotice.findMany({
      ...noticesAfter(after, limit),
      select: {
        id: true,
        kind: true,
        identity: { include: { ...WITH_RECORDS, workspace: { select: ADDRESSED_WORKSPACE } } },
      },
    });
    return rows.map(({ id, kind, identity }) => ({
      ...addressed(id, identity.workspace),
      domain: identityWithRecords(identity),
      notice: kind,
    }));
  }

  /** Settles a notice once its mails are durable; idempotent. */
  async settle(id: string): Promise<void> {
    await this.database.prisma.domainNotice.deleteMany({ where: { id } });
  }
}
