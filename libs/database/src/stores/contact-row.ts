import { idFromUuid } from '@posthorn/kernel';
import { type Contact, type JsonObject, parseJson } from '@posthorn/domain';
import type { RowOf } from './row-of.ts';

/** A contact as statements give it. */
export type ContactRow = RowOf<Omit<Contact, 'properties'>, 'id' | 'workspaceId'> & {
  /** JSON text: its keys are of a caller's choice, and the driver's own parser can misread such. */
  readonly properties: string;
};

/** A contact out of its row. */
export function contactOf(row: ContactRow): Contact {
  const { email, status, unsubscribedAt, createdAt, updatedAt } = row;
  return {
    id: idFromUuid('ctc', row.id),
    workspaceId: idFromUuid('wrk', row.workspaceId),
    properties: parseJson(row.properties) as JsonObject,
    email,
    status,
    unsubscribedAt,
    createdAt,
    updatedAt,
  };
}
