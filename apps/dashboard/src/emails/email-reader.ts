import { type EmailId, parseId, Refusal, type WorkspaceId } from '@posthorn/kernel';
import type {
  AuditLogStore,
  EmailSearchStore,
  EmailStore,
  OperatorAccount,
  WorkspaceStore,
} from '@posthorn/database';
import type { ShownEmail } from './email-page.ts';

const MOST_ACTS = { limit: 100, sort: 'createdAt.desc' } as const;

export interface EmailReaderOptions {
  readonly search: Pick<EmailSearchStore, 'workspaceOf'>;
  readonly emails: Pick<EmailStore, 'find'>;
  readonly auditLog: Pick<AuditLogStore, 'list'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
}

/** Finds an email by its id alone, in whichever workspace it is. */
export class EmailReader {
  constructor(private readonly options: EmailReaderOptions) {}

  /** The id in an address, and whose email it is. @throws Refusal (404) when there is none */
  async locate(text: string): Promise<{ id: EmailId; workspaceId: WorkspaceId }> {
    const id = parseId('trs', text);
    const workspaceId = id && (await this.options.search.workspaceOf(id));
    if (id === undefined || workspaceId === undefined) throw noSuchEmail();
    return { id, workspaceId };
  }

  /** All that is shown of an email. @throws Refusal (404) when there is none */
  async read(text: string, account: OperatorAccount): Promise<ShownEmail> {
    const { emails, auditLog, workspaces } = this.options;
    const { id, workspaceId } = await this.locate(text);
    const [email, workspace, acts, copies] = await Promise.all([
      emails.find(workspaceId, id),
      workspaces.find(workspaceId),
      auditLog.list(workspaceId, MOST_ACTS, { subjectId: id }),
      auditLog.list(workspaceId, MOST_ACTS, { action: 'email.sent_again', copyOf: id }),
    ]);
    return { ...{ email: thatIsThere(email), workspace, account }, acts: acts.items, copies: copies.items };
  }
}

/** @throws Refusal (404) when it is not */
export function thatIsThere<Value>(value: Value | undefined): Value {
  if (value === undefined) throw noSuchEmail();
  return value;
}

function noSuchEmail(): Refusal {
  return new Refusal(404, 'There is no email with this id');
}
