import { type EmailId, idFromUuid, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type EmailStatus } from '@posthorn/domain';
import { type Database } from '../connection.ts';
import {
  type Email as EmailRow,
  type EmailEvent as EmailEventRow,
  type EmailEventKind,
} from '../generated/client.ts';
import { READ_COMPOSITION } from '../sql/composition.ts';
import { composableEmail, type ComposableEmail, type CompositionRow } from './composable-email.ts';

/** A fact of an email's life. */
export interface EmailFact {
  readonly kind: EmailEventKind;
  readonly at: Date;
  readonly late: boolean;
  readonly duplicatePossible: boolean;
  readonly detail: Readonly<Record<string, unknown>>;
}

/** What is known of an email, but for its content. */
export interface EmailRecord {
  readonly id: EmailId;
  readonly type: 'raw' | 'templated';
  readonly status: EmailStatus;
  readonly from: string;
  readonly to: string;
  /** Null for a templated email. */
  readonly subject: string | null;
  /** Null for a raw email. */
  readonly template: string | null;
  readonly messageId: string;
  readonly groupBy: string | null;
  readonly sendAt: Date | null;
  readonly acceptedAt: Date;
  readonly sentAt: Date | null;
  readonly timeline: readonly EmailFact[];
}

/** More facts than any email has by itself; bounds what one answer holds. */
const MOST_FACTS = 500;

/** Emails as their workspace reads them. */
export class EmailStore {
  constructor(private readonly database: Database) {}

  /** The email, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: EmailId): Promise<EmailRecord | undefined> {
    const { prisma } = this.database;
    const [row, facts] = await Promise.all([
      prisma.email.findFirst({ where: { id: uuidOf(id), workspaceId: uuidOf(workspaceId) } }),
      prisma.emailEvent.findMany({
        where: { emailId: uuidOf(id) },
        orderBy: [{ at: 'asc' }, { id: 'asc' }],
        take: MOST_FACTS,
      }),
    ]);
    return row === null ? undefined : emailRecord(row, facts);
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

function emailRecord(row: EmailRow, facts: EmailEventRow[]): EmailRecord {
  const { type, status, subject, messageId, groupBy, sendAt, acceptedAt, sentAt } = row;
  return {
    id: idFromUuid('trs', row.id),
    type,
    status,
    from: row.fromAddress,
    to: row.toAddress,
    subject,
    template: row.templateName,
    messageId,
    groupBy,
    sendAt,
    acceptedAt,
    sentAt,
    timeline: facts.map(({ kind, at, late, duplicatePossible, detail }) => ({
      kind,
      at,
      late,
      duplicatePossible,
      detail: detail as Record<string, unknown>,
    })),
  };
}
