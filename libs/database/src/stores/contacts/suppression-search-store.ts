import { idFromUuid, type SuppressionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import { type Page, pageOf, type PageRequest, type Suppression } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import { READ_SUPPRESSION_WORKSPACE, searchSuppressions } from '../../sql/suppressions.ts';
import { suppressionOf, type SuppressionRow } from './suppression-row.ts';

/** The suppression lists of all workspaces, for operators: must not be exposed to API keys. */
export class SuppressionSearchStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** A page of all entries, or of those of one address, case-insensitively. */
  async list(page: PageRequest<SuppressionId>, email: string | undefined): Promise<Page<Suppression>> {
    const { rows } = await this.database.pool.query<SuppressionRow>(searchSuppressions(page, email));
    return pageOf(rows.map(suppressionOf), page.limit);
  }

  /** The workspace of an entry; undefined: there is none with this id. */
  async workspaceOf(id: SuppressionId): Promise<WorkspaceId | undefined> {
    const values = [uuidOf(id)];
    const { rows } = await this.database.pool.query<{ workspaceId: string }>(
      READ_SUPPRESSION_WORKSPACE,
      values,
    );
    return rows[0] && idFromUuid('wrk', rows[0].workspaceId);
  }
}
