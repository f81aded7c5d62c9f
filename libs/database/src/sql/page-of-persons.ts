import { type Id, uuidOf, type WorkspaceId } from '@posthorn/kernel';
import type { PageRequest } from '@posthorn/domain';
import { equalityOf, pageStatement, type Statement, Values } from './statement.ts';

/** A filter of a list by the value of a column that has an index beside the workspace. */
interface IndexedFilter {
  readonly column: string;
  readonly type: string;
  /** Undefined: any. */
  readonly value: unknown;
}

/**
 * A page of the persons of a workspace. With an address, the index of that finds the only one; otherwise they are read in the order of the index of workspace, filter
 * and id (see {@link inIndexOrder}).
 *
 * @param selected as for {@link pageStatement}
 */
export function pageOfPersons(
  selected: string,
  workspaceId: WorkspaceId,
  { email, by: { column, type, value } }: { readonly email: string | undefined; readonly by: IndexedFilter },
  page: PageRequest<Id<string>>,
): Statement {
  const values = new Values();
  const ofWorkspace = { column: 'workspace_id', value: values.add(uuidOf(workspaceId), 'uuid') };
  const withEmail = values.given(email, 'text', (wanted) => `lower(email) = lower(${wanted})`);
  const filtered = values.given(value, type, (wanted) => ({ column, value: wanted }));
  const equalities = [ofWorkspace, ...filtered];
  const listed =
    email === undefined ? { equalities } : { conditions: [...equalities.map(equalityOf), ...withEmail] };
  return pageStatement(selected, listed, page, values);
}
