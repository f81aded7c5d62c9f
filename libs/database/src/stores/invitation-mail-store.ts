import { type Database } from '../connection.ts';

/** A mail of an invitation that is not durable as an email yet. */
export interface OwedInvitationMail {
  /** A uuid. */
  readonly id: string;
  readonly sealedMail: Buffer;
}

/** Mails of invitations that were written down with them and have still to be handed over for sending. */
export class InvitationMailStore {
  constructor(private readonly database: Database) {}

  /**
   * The next mails of all workspaces that have been owed for some time, the oldest first. Index: invitation_mails_owed_idx.
   *
   * @param after the last one that was seen; null: from the beginning
   */
  async owed(forSeconds: number, after: string | null, limit: number): Promise<OwedInvitationMail[]> {
    const before = new Date(this.database.clock.nowMs() - forSeconds * 1_000);
    const rows = await this.database.prisma.invitationMail.findMany({
      where: {
        sealedMail: { not: null },
        createdAt: { lte: before },
        ...(after === null ? {} : { id: { gt: after } }),
      },
      orderBy: { id: 'asc' },
      take: limit,
      select: { id: true, sealedMail: true },
    });
    return rows.map(({ id, sealedMail }) => ({ id, sealedMail: Buffer.from(sealedMail!) }));
  }

  /** It is durable as an email: nothing is owed any more. Doing it twice is doing it once. */
  async settle(id: string): Promise<void> {
    await this.database.prisma.invitationMail.updateMany({ where: { id }, data: { sealedMail: null } });
  }
}
