import { uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { Api } from './api.ts';
import type { Stack } from './stack.ts';

/** The status of a contact; undefined: there is none. */
export async function contactStatus(api: Api, email: string): Promise<string | undefined> {
  const { body } = await api.get(`/v1/contacts?email=${encodeURIComponent(email)}`);
  return (body['contacts'] as { items: { status: string }[] }).items[0]?.status;
}

/** All events of a workspace, and what its audit log says was done to contacts, and by whom. */
export async function contactChanges({ database }: Stack, workspaceId: WorkspaceId): Promise<string[]> {
  const { rows } = await database.pool.query<{ what: string }>(
    `SELECT type AS what FROM events WHERE workspace_id = $1
     UNION ALL SELECT action || ' ' || (actor ->> 'kind') FROM audit_log WHERE workspace_id = $1 AND action LIKE 'contact.%' ORDER BY 1`,
    [uuidOf(workspaceId)],
  );
  return rows.map(({ what }) => what);
}
