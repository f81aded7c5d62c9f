import { type EmailId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Database } from '../connection.ts';
import { READ_COMPOSITION } from '../sql/composition.ts';
import { composableEmail, type ComposableEmail, type CompositionRow } from './composable-email.ts';
import { emailFact, type EmailRecord, emailSummary, engagementOf } from './email-record.ts';

/** More facts than any email has by itself; bounds what one answer holds. */
const MAX_FACTS = 500;

/** Emails as their workspace reads them. */
export class EmailStore {
  constructor(private readonly database: Database) {}

  /** The email, if this workspace has it; all of it as of one moment, so that no number is ahead of the timeline. */
  async find(workspaceId: WorkspaceId, id: EmailId): Promise<EmailRecord | undefined> {
    const { prisma } = this.database;
    const [row, facts, engagement] = await prisma.$transaction(
      [
        prisma.email.findFirst({ where: { id: uuidOf(id), workspaceId: uuidOf(workspaceId) } }),
        prisma.emailEvent.findMany({
          where: { emailId: uuidOf(id) },
          orderBy: [{ at: 'asc' }, { id: 'asc' }],
          take: MAX_FACTS,
        }),
        prisma.emailEngagement.findUnique({ where: { emailId: uuidOf(id) } }),
      ],
      { isolationLevel: 'RepeatableRead' },
    );
    if (row === null) return undefined;
    const { trackClicks, trackOpens } = row;
    return {
      ...emailSummary(row),
      trackClicks,
      trackOpens,
      engagement: engagementOf(engagement),
      timeline: facts.map(emailFact),
    };
  }

  /** What a sender would be given of the email, if this workspace has it. */
  async findComposable(workspaceId: WorkspaceId, id: EmailId): Promise<ComposableEmail | undefined> {
    const { rows } = await this.database.pool.query<CompositionRow>(READ_COMPOSITION, [
      uuidOf(id),
      uuidOf(workspaceId),
    ]);
    return rows[0] && composableEmail(rows[0]);
  }
}
