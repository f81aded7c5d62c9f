import { SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import type { Workspace } from '@posthorn/database';
import { field } from './fields.ts';
import { html, type Html } from './html.ts';

/** Further workspaces can only be given by their ids. */
const MAX_SUGGESTED = 500;

/** An input for the id of a workspace that suggests the existing ones. */
export function workspaceField(value: string | undefined, workspaces: readonly Workspace[]): Html {
  const option = ({ id, name }: Workspace): Html => html`<option value="${id}">${name}</option>`;
  return html`${field('workspace', 'Workspace', { value, list: 'workspaces' })}
    <datalist id="workspaces">${workspaces.slice(0, MAX_SUGGESTED).map(option)}</datalist>`;
}

/** Gives the display name of a workspace. */
export type WorkspaceName = (id: WorkspaceId) => string;

/** Names these workspaces and Posthorn's own; any other by its id. */
export function workspaceNames(workspaces: readonly Workspace[]): WorkspaceName {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  names.set(SYSTEM_WORKSPACE_ID, 'Posthorn itself');
  return (id) => names.get(id) ?? id;
}

/** A table cell with the name of a workspace, which may be long and so wraps. */
export function workspaceCell(id: WorkspaceId, nameOf: WorkspaceName): Html {
  return html`<td class="name"><bdi>${nameOf(id)}</bdi></td>`;
}

/** The name of a workspace, with its id. */
export function workspaceText(workspace: Workspace): string {
  return `${workspaceNames([workspace])(workspace.id)} (${workspace.id})`;
}
