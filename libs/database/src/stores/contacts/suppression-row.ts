import { idFromUuid } from '@posthorn/kernel';
import type { Suppression } from '@posthorn/domain';
import type { RowOf } from '../row-of.ts';

/** A suppression as returned by statements. */
export type SuppressionRow = RowOf<Suppression, 'id' | 'workspaceId' | 'emailId'>;

/** Converts a row to a suppression. */
export function suppressionOf(row: SuppressionRow): Suppression {
  return {
    ...row,
    id: idFromUuid('sup', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    emailId: row.emailId === null ? null : idFromUuid('trs', row.emailId),
  };
}
