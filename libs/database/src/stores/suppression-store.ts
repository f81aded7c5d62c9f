import { type SuppressionId, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import {
  type Page,
  pageOf,
  type PageRequest,
  type Suppression,
  type SuppressionReason,
} from '@posthorn/domain';
import type { Database } from '../connection.ts';
import { listSuppressions, READ_SUPPRESSION, type SuppressionFilterName } from '../sql/suppressions.ts';
import { suppressionOf, type SuppressionRow } from './suppression-row.ts';

/** Which suppressions are wanted; all where nothing is said. */
export interface SuppressionFilter {
  /** The address, in whatever case. */
  readonly email?: string | undefined;
  readonly reason?: SuppressionReason | undefined;
}

const FILTER_NAMES: readonly SuppressionFilterName[] = ['email', 'reason'];
const LEAST_UUID = '00000000-0000-0000-0000-000000000000';
const GREATEST_UUID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

/** The addresses that workspaces' emails are not sent to, as they are read. */
export class SuppressionStore {
  constructor(private readonly database: Pick<Database, 'pool'>) {}

  /** A page of a workspace's list, in the order in which its entries were made. */
  async list(
    workspaceId: WorkspaceId,
    { limit, sort, startAt }: PageRequest<SuppressionId>,
    filter: SuppressionFilter = {},
  ): Promise<Page<Suppression>> {
    const isAscending = sort === 'createdAt.asc';
    const first = startAt === undefined ? (isAscending ? LEAST_UUID : GREATEST_UUID) : uuidOf(startAt);
    const filters = FILTER_NAMES.filter((name) => filter[name] !== undefined);
    const { rows } = await this.database.pool.query<SuppressionRow>(listSuppressions(isAscending, filters), [
      ...[uuidOf(workspaceId), first, limit + 1],
      ...filters.map((name) => filter[name]),
    ]);
    return pageOf(rows.map(suppressionOf), limit);
  }

  /** The entry, if this workspace has it. */
  async find(workspaceId: WorkspaceId, id: SuppressionId): Promise<Suppression | undefined> {
    const values = [uuidOf(id), uuidOf(workspaceId)];
    const { rows } = await this.database.pool.query<SuppressionRow>(READ_SUPPRESSION, values);
    return rows[0] && suppressionOf(rows[0]);
  }
}
