import { SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import type { Workspace } from '@posthorn/database';
import { field } from './fields.ts';
import { html, type Html } from './html.ts';

/** Who has more workspaces gives their ids. */
const MAX_SUGGESTED = 500;

/** The field for the id of a workspace, with those that there are to choose from. */
export function workspaceField(value: string | undefined, workspaces: readonly Workspace[]): Html {
  const option = ({ id, name }: Workspace): Html => html`<option value="${id}">${name}</option>`;
  return html`${field('workspace', 'Workspace', { value, list: 'workspaces' })}
    <datalist id="workspaces">${workspaces.slice(0, MAX_SUGGESTED).map(option)}</datalist>`;
}

/** What people know a workspace by. */
export type WorkspaceName = (id: WorkspaceId) => string;

/** What people know workspaces by, of those that are given. */
export function workspaceNames(workspaces: readonly Workspace[]): WorkspaceName {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  names.set(SYSTEM_WORKSPACE_ID, 'Posthorn itself');
  return (id) => names.get(id) ?? id;
}

/** The cell of a table that names a workspace; names are as long as those who give them like. */
export function workspaceCell(id: WorkspaceId, nameOf: WorkspaceName): Html {
  return html`<td class="name"><bdi>${nameOf(id)}</bdi></td>`;
}

/** What a workspace is known by, with its id. */
export function workspaceText(workspace: Workspace): string {
  return `${workspaceNames([workspace])(workspace.id)} (${workspace.id})`;
}
