import { idFromUuid } from '@posthorn/kernel';
import { type Contact, type ContactStatus, type JsonObject, parseJson } from '@posthorn/domain';

/** A contact as statements give it. */
export interface ContactRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly email: string;
  /** JSON text: its keys are of a caller's choice, and the driver's own parser can misread such. */
  readonly properties: string;
  readonly status: ContactStatus;
  readonly unsubscribedAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

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
