import { newId, type TemplateId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Actor, WORKSPACE_LIMITS } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { INSERT_TEMPLATE, INSERT_TEMPLATE_VERSION, READ_TEMPLATE } from '../../sql/templates.ts';
import { changeWorkspace, type Transaction } from '../../transactions/transaction.ts';
import { recordAudit } from '../workspaces/audit-log-store.ts';
import { type Template, type TemplateContent, templateOf, type TemplateRow } from './template-row.ts';

/** Why a template was not saved; nothing has changed. */
export type TemplateRefusal =
  /** Another template of the workspace has that name. */
  | 'name_taken'
  /** The workspace has the maximum. */
  | 'too_many'
  /** The template does not exist, or was deleted. */
  | 'unknown'
  /** The template was changed since it was read. */
  | 'changed';

/** A template to be saved. */
interface NamedContent {
  readonly name: string;
  readonly content: TemplateContent;
}

/** Saves templates: each change in a transaction with its audit log entry; changes within a workspace are serialized. */
export class TemplateChanges {
  constructor(private readonly database: Database) {}

  async create(
    workspaceId: WorkspaceId,
    actor: Actor,
    { name, content }: NamedContent,
  ): Promise<Template | Extract<TemplateRefusal, 'name_taken' | 'too_many'>> {
    const now = this.database.clock.now();
    const id = newId('tpl', now.getTime());
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const living = { workspaceId: uuidOf(workspaceId), deletedAt: null };
      if (await isTaken(transaction, workspaceId, name)) return 'name_taken';
      if ((await transaction.template.count({ where: living })) >= WORKSPACE_LIMITS.templates)
        return 'too_many';
      const written = {
        id,
        name,
        versionId: newId('tpv', now.getTime()),
        version: 1,
        createdAt: now,
        updatedAt: now,
        ...content,
      };
      await transaction.$executeRawUnsafe(INSERT_TEMPLATE, ...parametersOf(workspaceId, written));
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'template.created',
        actor,
        subjectId: id,
        detail: { name },
      });
      return written;
    });
  }

  /**
   * Gives a template another name, a new version, or both.
   *
   * @param read the template that the change is based on: if it has changed since, nothing is written
   */
  async update(
    workspaceId: WorkspaceId,
    actor: Actor,
    read: Template,
    { name, content }: Pick<NamedContent, 'name'> & Partial<NamedContent>,
  ): Promise<Template | TemplateRefusal> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const found = await this.stateOf(transaction, workspaceId, read);
      if (found !== 'as_read') return found;
      if (name !== read.name && (await isTaken(transaction, workspaceId, name))) return 'name_taken';
      const written: Template = {
        ...read,
        ...content,
        name,
        updatedAt: now,
        ...(content ? { versionId: newId('tpv', now.getTime()), version: read.version + 1 } : {}),
      };
      if (content)
        await transaction.$executeRawUnsafe(INSERT_TEMPLATE_VERSION, ...parametersOf(workspaceId, written));
      else
        await transaction.template.update({ where: { id: uuidOf(read.id) }, data: { name, updatedAt: now } });
      const detail = {
        name,
        version: written.version,
        ...(name === read.name ? {} : { nameBefore: read.name }),
      };
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'template.updated',
        actor,
        subjectId: read.id,
        detail,
      });
      return written;
    });
  }

  /** Deletes a template and returns it as it was; its versions are kept for the emails that are pinned to them. */
  async delete(workspaceId: WorkspaceId, actor: Actor, id: TemplateId): Promise<Template | undefined> {
    const now = this.database.clock.now();
    return changeWorkspace(this.database, workspaceId, async (transaction) => {
      const ids = [uuidOf(id), uuidOf(workspaceId)];
      const [row] = await transaction.$queryRawUnsafe<TemplateRow[]>(READ_TEMPLATE, ...ids);
      if (row === undefined) return undefined;
      await transaction.template.update({ where: { id: row.id }, data: { deletedAt: now } });
      await recordAudit(transaction, this.database.clock.nowMs(), {
        workspaceId,
        action: 'template.deleted',
        actor,
        subjectId: id,
        detail: { name: row.name },
      });
      return templateOf(row);
    });
  }

  private async stateOf(
    transaction: Transaction,
    workspaceId: WorkspaceId,
    read: Template,
  ): Promise<'as_read' | 'unknown' | 'changed'> {
    const where = { id: uuidOf(read.id), workspaceId: uuidOf(workspaceId), deletedAt: null };
    const row = await transaction.template.findFirst({ where });
    if (row === null) return 'unknown';
    return row.currentVersionId === uuidOf(read.versionId) && row.name === read.name ? 'as_read' : 'changed';
  }
}

async function isTaken(transaction: Transaction, workspaceId: WorkspaceId, name: string): Promise<boolean> {
  const where = { workspaceId: uuidOf(workspaceId), name, deletedAt: null };
  return (await transaction.template.count({ where })) > 0;
}

/** The parameters of INSERT_TEMPLATE. */
function parametersOf(workspaceId: WorkspaceId, template: Template): unknown[] {
  const { id, name, versionId, version, from, replyTo, parts, defaults, required, unsubscribe, updatedAt } =
    template;
  return [
    uuidOf(id),
    uuidOf(workspaceId),
    name,
    updatedAt,
    uuidOf(versionId),
    version,
    from.address,
    from.name ?? null,
    replyTo.length > 0 ? JSON.stringify(replyTo) : null,
    parts.subject,
    parts.html,
    parts.text ?? null,
    parts.previewText ?? null,
    JSON.stringify(defaults),
    required,
    unsubscribe,
  ];
}
