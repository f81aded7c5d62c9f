import { SYSTEM_WORKSPACE_ID, type WorkspaceId } from '@posthorn/kernel';
import type { Workspace, WorkspaceStore } from '@posthorn/database';
import { field } from './fields.ts';
import { html, type Html } from './html.ts';

/** Further workspaces can only be given by their ids. */
const MAX_SUGGESTED = 500;

/** The workspaces that a page suggests and names. */
export interface PageWorkspaces {
  /** Suggested in fields for the id of a workspace: the oldest. */
  readonly suggested: readonly Workspace[];
  readonly nameOf: WorkspaceName;
}

/** Reads the suggested workspaces, and the names of the owners of what a page shows: two statements, however many workspaces there are. */
export async function readWorkspaces(
  store: Pick<WorkspaceStore, 'list' | 'findMany'>,
  shown: readonly { readonly workspaceId: WorkspaceId }[] = [],
): Promise<PageWorkspaces> {
  const [suggested, named] = await Promise.all([
    store.list(MAX_SUGGESTED),
    store.findMany([...new Set(shown.map(({ workspaceId }) => workspaceId))]),
  ]);
  return { suggested, nameOf: workspaceNames(named) };
}

/** An input for the id of a workspace with suggestions. */
export function workspaceField(value: string | undefined, suggested: readonly Workspace[]): Html {
  const option = ({ id, name }: Workspace): Html => html`<option value="${id}">${name}</option>`;
  return html`${field('workspace', 'Workspace', { value, list: 'workspaces' })}
    <datalist id="workspaces">${suggested.map(option)}</datalist>`;
}

/** Gives the display name of a workspace. */
export type WorkspaceName = (id: WorkspaceId) => string;

/** Names these workspaces and Posthorn's own; any other by its id. */
export function workspaceNames(workspaces: readonly Workspace[]): WorkspaceName {
  const names = new Map(workspaces.map(({ id, name }) => [id, name]));
  names.set(SYSTEM_WORKSPACE_ID, 'Posthorn itself');
  return (id) => names.get(id) ?? id;
}

/** A table cell with the name of a workspace, which may be long and so wraps, and a link to its page: that of Posthorn's own has none. */
export function workspaceCell(id: WorkspaceId, nameOf: WorkspaceName): Html {
  const name = html`<bdi>${nameOf(id)}</bdi>`;
  return html`<td class="name">
    ${id === SYSTEM_WORKSPACE_ID ? name : html`<a href="/workspaces/${id}">${name}</a>`}
  </td>`;
}

/** The name of a workspace, with its id, and a link to its page. */
export function workspaceLink(workspace: Workspace): Html {
  const { id } = workspace;
  const name = html`<bdi>${workspaceNames([workspace])(id)}</bdi>`;
  return id === SYSTEM_WORKSPACE_ID
    ? html`${name} (${id})`
    : html`<a href="/workspaces/${id}">${name}</a> (${id})`;
}
