import { idFromUuid } from '@posthorn/kernel';
import type { Actor, Suppression, SuppressionReason } from '@posthorn/domain';

/** A suppression as statements give it. */
export interface SuppressionRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string;
  readonly reason: SuppressionReason;
  readonly emailId: string | null;
  readonly createdBy: Actor;
  readonly createdAt: Date;
}

/** A suppression out of its row. */
export function suppressionOf(row: SuppressionRow): Suppression {
  const { email, reason, createdBy, createdAt } = row;
  return {
    id: idFromUuid('sup', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    emailId: row.emailId === null ? null : idFromUuid('trs', row.emailId),
    email,
    reason,
    createdBy,
    createdAt,
  };
}
