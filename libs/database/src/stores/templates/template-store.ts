import {
  idFromUuid,
  type TemplateId,
  type TemplateVersionId,
  uuidOf,
  type WorkspaceId,
} from '@posthorn/kernel';
import { type Page, pageOf, type PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import {
  FIND_CURRENT_TEMPLATES,
  FIND_TEMPLATE_VERSIONS,
  listTemplates,
  listTemplateVersions,
  READ_TEMPLATE,
  READ_TEMPLATE_VERSION,
} from '../../sql/templates.ts';
import { mailboxOf } from '../emails/composable-email.ts';
import {
  type SourceRow,
  storedSourceOf,
  type StoredVersionSource,
  type Template,
  type TemplateContent,
  templateOf,
  type TemplateRow,
  type TemplateSummary,
  templateSummaryOf,
  type TemplateSummaryRow,
  type TemplateVersionSummary,
  type VersionRow,
  versionSummaryOf,
} from './template-row.ts';

/** What accepting an email needs of its template. */
export interface CurrentTemplate extends Pick<
  TemplateContent,
  'from' | 'replyTo' | 'required' | 'unsubscribe'
> {
  /** The version that the email is pinned to. */
  readonly versionId: TemplateVersionId;
  /** The size of its HTML and text in bytes. */
  readonly bytes: number;
}

interface CurrentRow extends Pick<
  TemplateRow,
  'versionId' | 'fromAddress' | 'fromName' | 'replyTo' | 'required' | 'unsubscribe'
> {
  n: number;
  bytes: number;
}

/** Reads the templates of workspaces; `TemplateChanges` writes them. */
export class TemplateStore {
  constructor(private readonly database: Database) {}

  /** The templates with these names, in their order, without deleted ones; undefined where the workspace has none of that name. */
  async findCurrent(
    names: readonly { readonly workspaceId: WorkspaceId; readonly name: string }[],
  ): Promise<(CurrentTemplate | undefined)[]> {
    const { rows } = await this.database.pool.query<CurrentRow>({
      name: 'find_current_templates',
      text: FIND_CURRENT_TEMPLATES,
      values: [names.map(({ workspaceId }) => uuidOf(workspaceId)), names.map(({ name }) => name)],
    });
    const found = new Map(rows.map((row) => [row.n - 1, currentTemplate(row)]));
    return names.map((_name, index) => found.get(index));
  }

  /** The content of these versions, in the order of the ids, even if the template was deleted; undefined where there is none. */
  async findVersions(ids: readonly TemplateVersionId[]): Promise<(StoredVersionSource | undefined)[]> {
    const { rows } = await this.database.pool.query<SourceRow>({
      name: 'find_template_versions',
      text: FIND_TEMPLATE_VERSIONS,
      values: [ids.map(uuidOf)],
    });
    const found = new Map(rows.map((row) => [row.versionId, storedSourceOf(row)]));
    return ids.map((id) => found.get(uuidOf(id)));
  }

  /** A page of a workspace's templates, by age; with a name, only the one that has it. */
  async list(
    workspaceId: WorkspaceId,
    { limit, sort, startAt }: PageRequest<TemplateId>,
    name?: string,
  ): Promise<Page<TemplateSummary>> {
    const values = [uuidOf(workspaceId), startAt && uuidOf(startAt), limit + 1, name];
    const { rows } = await this.database.pool.query<TemplateSummaryRow>(listTemplates(sort), values);
    return pageOf(rows.map(templateSummaryOf), limit);
  }

  /** The template with its current version, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: TemplateId): Promise<Template | undefined> {
    const { rows } = await this.database.pool.query<TemplateRow>(READ_TEMPLATE, [
      uuidOf(id),
      uuidOf(workspaceId),
    ]);
    return rows[0] && templateOf(rows[0]);
  }

  /** The template with one of its versions, if this workspace has both. */
  async findVersion(
    workspaceId: WorkspaceId,
    id: TemplateId,
    version: number,
  ): Promise<Template | undefined> {
    const { rows } = await this.database.pool.query<TemplateRow>(READ_TEMPLATE_VERSION, [
      uuidOf(id),
      uuidOf(workspaceId),
      version,
    ]);
    return rows[0] && templateOf(rows[0]);
  }

  /** A page of a template's versions, if this workspace has the template. */
  async listVersions(
    workspaceId: WorkspaceId,
    id: TemplateId,
    { limit, sort, startAt }: PageRequest<TemplateVersionId>,
  ): Promise<Page<TemplateVersionSummary> | undefined> {
    const where = { id: uuidOf(id), workspaceId: uuidOf(workspaceId), deletedAt: null };
    if ((await this.database.prisma.template.count({ where })) === 0) return undefined;
    const values = [where.id, startAt && uuidOf(startAt), limit + 1];
    const { rows } = await this.database.pool.query<VersionRow>(listTemplateVersions(sort), values);
    return pageOf(rows.map(versionSummaryOf), limit);
  }
}

function currentTemplate(row: CurrentRow): CurrentTemplate {
  return {
    versionId: idFromUuid('tpv', row.versionId),
    from: mailboxOf(row.fromAddress, row.fromName),
    replyTo: row.replyTo ?? [],
    required: row.required,
    unsubscribe: row.unsubscribe,
    bytes: row.bytes,
  };
}
