import { type DeliveryId, uuidOf, type WebhookId, type WorkspaceId } from '@posthorn/kernel';
import type { Page, PageRequest } from '@posthorn/domain';
import type { Database } from '../../connection/connection.ts';
import {
  type DeliveryFilter,
  listDeliveries,
  READ_ATTEMPTS,
  READ_DELIVERY,
} from '../../sql/delivery-list.ts';
import type { ScanWindow } from '../../sql/statement.ts';
import { BoundedSearch } from '../bounded-search.ts';
import {
  type DeliveryWithAttempts,
  type ShownAttempt,
  type ShownDelivery,
  shownDelivery,
  type ShownDeliveryRow,
} from './shown-delivery.ts';

/** Somebody who has sent a delivery again a hundred times need not see every attempt: an answer may have 20 KiB. */
const MAX_ATTEMPTS = 50;

/** What has become of the deliveries of a webhook. */
export class DeliveryListStore {
  private readonly search: BoundedSearch<'dlv'>;

  constructor(private readonly database: Pick<Database, 'pool'>) {
    this.search = new BoundedSearch('dlv', database.pool);
  }

  /** A page of the deliveries that match; see {@link BoundedSearch} for when it has fewer than it may. */
  list(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    page: PageRequest<DeliveryId>,
    filter: DeliveryFilter,
  ): Promise<Page<ShownDelivery>> {
    const statementOf = (window: ScanWindow) => listDeliveries(workspaceId, webhookId, window, filter);
    return this.search.page(page, statementOf, shownDelivery);
  }

  /** The delivery with its newest attempts, if this webhook of this workspace has it. */
  async find(
    workspaceId: WorkspaceId,
    webhookId: WebhookId,
    id: DeliveryId,
  ): Promise<DeliveryWithAttempts | undefined> {
    const ids = [uuidOf(id), uuidOf(webhookId), uuidOf(workspaceId)];
    const found = await this.database.pool.query<ShownDeliveryRow & { body: string }>(READ_DELIVERY, ids);
    const [row] = found.rows;
    if (row === undefined) return undefined;
    const { rows } = await this.database.pool.query<ShownAttempt>(READ_ATTEMPTS, [ids[0], MAX_ATTEMPTS]);
    return { ...shownDelivery(row), body: row.body, attempts: rows.reverse() };
  }
}
