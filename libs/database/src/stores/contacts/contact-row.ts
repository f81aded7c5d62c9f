import { idFromUuid } from '@posthorn/kernel';
import { type Contact, type JsonObject, parseJson } from '@posthorn/domain';
import type { RowOf } from '../row-of.ts';

/** A contact as returned by statements. */
export type ContactRow = RowOf<Omit<Contact, 'properties'>, 'id' | 'workspaceId'> & {
  /** JSON text: callers choose its keys, and the driver's own parser can misread some. */
  readonly properties: string;
};

/** Converts a row to a contact. */
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
