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
import { orNotFound } from '../pages/refusals.ts';
import type { ShownEmail } from './email-page.ts';

/** The message of a 404. */
export const NO_EMAIL = 'There is no email with this id';

/** As mail programs show it, or without the angle brackets as the API does. Its local part is the email's id without the prefix. */
const MESSAGE_ID = /^<?([^@<>]+)@[^@<>]+>?$/;

const ONE = { limit: 1, sort: 'createdAt.desc' } as const;
const NEWEST_ACTIONS = { limit: 100, sort: 'createdAt.desc' } as const;

interface EmailReaderOptions {
  readonly search: Pick<EmailSearchStore, 'workspaceOf'>;
  readonly emails: Pick<EmailStore, 'find'>;
  readonly auditLog: Pick<AuditLogStore, 'list'>;
  readonly workspaces: Pick<WorkspaceStore, 'find'>;
  readonly suppressions: Pick<SuppressionStore, 'list'>;
  readonly pausedLanes: Pick<PausedLaneStore, 'pauseOf'>;
}

/** Finds an email by its id, in any workspace. */
export class EmailReader {
  constructor(private readonly options: EmailReaderOptions) {}

  /** Parses an id, and finds the email's workspace. @throws Refusal (404) when there is none */
  async locate(text: string): Promise<{ id: EmailId; workspaceId: WorkspaceId }> {
    const id = orNotFound(parseId('trs', text), NO_EMAIL);
    return { id, workspaceId: orNotFound(await this.options.search.workspaceOf(id), NO_EMAIL) };
  }

  /** The email whose id or Message-ID this is; undefined: it is neither, or an address that only looks like a Message-ID. */
  async identify(text: string): Promise<EmailId | undefined> {
    const [, local] = MESSAGE_ID.exec(text) ?? [];
    if (local === undefined) return parseId('trs', text);
    const id = parseId('trs', `trs_${local}`);
    const exists = id !== undefined && (await this.options.search.workspaceOf(id)) !== undefined;
    return exists ? id : undefined;
  }

  /** Whether an email is cancelled. */
  async isCancelled(workspaceId: WorkspaceId, id: EmailId): Promise<boolean> {
    return (await this.options.emails.find(workspaceId, id))?.status === 'CANCELLED';
  }

  /** The data of an email's page. @throws Refusal (404) when there is none */
  async read(text: string, account: OperatorAccount): Promise<ShownEmail> {
    const { emails, auditLog, workspaces, suppressions, pausedLanes } = this.options;
    const { id, workspaceId } = await this.locate(text);
    const email = orNotFound(await emails.find(workspaceId, id), NO_EMAIL);
    const [workspace, actions, copies, { items }, pause] = await Promise.all([
      workspaces.find(workspaceId),
      auditLog.list(workspaceId, NEWEST_ACTIONS, { subjectId: id }),
      auditLog.list(workspaceId, NEWEST_ACTIONS, { action: 'email.sent_again', copyOf: id }),
      suppressions.list(workspaceId, ONE, { email: email.to }),
      pausedLanes.pauseOf(workspaceId),
    ]);
    return {
      email,
      workspace: workspace!,
      account,
      suppression: items[0],
      pause,
      actions: actions.items,
      copies: copies.items,
    };
  }
}
