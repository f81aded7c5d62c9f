import { type SuppressionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Page, pageOf, type PageRequest, type Suppression } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { listSuppressions, READ_SUPPRESSION, type SuppressionFilter } from '../../sql/suppressions.ts';
import { suppressionOf, type SuppressionRow } from './suppression-row.ts';

/** Reads the suppression lists of workspaces. */
export class SuppressionStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** A page of a workspace's list, in order of creation. */
  async list(
    workspaceId: WorkspaceId,
    page: PageRequest<SuppressionId>,
    filter: SuppressionFilter,
  ): Promise<Page<Suppression>> {
    const statement = listSuppressions(workspaceId, page, filter);
    const { rows } = await this.database.pool.query<SuppressionRow>(statement);
    return pageOf(rows.map(suppressionOf), page.limit);
  }

  /** The entry, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: SuppressionId): Promise<Suppression | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId)];
    const { rows } = await this.database.pool.query<SuppressionRow>(READ_SUPPRESSION, values);
    return rows[0] && suppressionOf(rows[0]);
  }
}
