import { type EmailId, parseId, type WorkspaceId } from '@posthorn/kernel';
import type {
  AuditLogStore,
  EmailSearchStore,
  EmailStore,
  OperatorAccount,
  PausedLaneStore,
  SuppressionStore,
  WorkspaceStore,
} from '@posthorn/database';
import { thatIsThere } from '../pages/that-is-there.ts';
import type { ShownEmail } from './email-page.ts';

/** What an address is answered whose email is not there. */
export const NO_EMAIL = 'There is no email with this id';

const ONE = { limit: 1, sort: 'createdAt.desc' } as const;
const NEWEST_ACTS = { limit: 100, sort: 'createdAt.desc' } as const;

export interface EmailReaderOptions {
  readonly search: Pick<EmailSearchStore, 'workspaceOf'>;
  readonly emails: Pick<EmailStore, 'find'>;
  readonly auditLog: Pick<AuditLogStore, 'list'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  readonly suppressions: Pick<SuppressionStore, 'list'>;
  readonly pausedLanes: Pick<PausedLaneStore, 'holdingBack'>;
}

/** Finds an email by its id alone, in whichever workspace it is. */
export class EmailReader {
  constructor(private readonly options: EmailReaderOptions) {}

  /** The id in an address, and whose email it is. @throws Refusal (404) when there is none */
  async locate(text: string): Promise<{ id: EmailId; workspaceId: WorkspaceId }> {
    const id = thatIsThere(parseId('trs', text), NO_EMAIL);
    return { id, workspaceId: thatIsThere(await this.options.search.workspaceOf(id), NO_EMAIL) };
  }

  /** Whether an email was cancelled, by whomever. */
  async isCancelled(workspaceId: WorkspaceId, id: EmailId): Promise<boolean> {
    return (await this.options.emails.find(workspaceId, id))?.status === 'CANCELLED';
  }

  /** All that is shown of an email. @throws Refusal (404) when there is none */
  async read(text: string, account: OperatorAccount): Promise<ShownEmail> {
    const { emails, auditLog, workspaces, suppressions, pausedLanes } = this.options;
    const { id, workspaceId } = await this.locate(text);
    const email = thatIsThere(await emails.find(workspaceId, id), NO_EMAIL);
    const [workspace, acts, copies, { items }, pause] = await Promise.all([
      workspaces.find(workspaceId),
      auditLog.list(workspaceId, NEWEST_ACTS, { subjectId: id }),
      auditLog.list(workspaceId, NEWEST_ACTS, { action: 'email.sent_again', copyOf: id }),
      suppressions.list(workspaceId, ONE, { email: email.to }),
      pausedLanes.holdingBack(workspaceId),
    ]);
    return {
      email,
      workspace: workspace!,
      account,
      suppression: items[0],
      pause,
      acts: acts.items,
      copies: copies.items,
    };
  }
}
