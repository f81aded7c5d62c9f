import type { SuppressionId, WorkspaceId } from '@posthorn/kernel';
import type { Actor, Page, PageRequest, Suppression } from '@posthorn/domain';
import type {
  NewSuppression,
  SuppressionChanges,
  SuppressionFilter,
  SuppressionStore,
} from '@posthorn/database';
import { orUnavailable } from '../accept/refusals.ts';

export interface ManageSuppressionsOptions {
  readonly suppressions: SuppressionStore;
  readonly changes: SuppressionChanges;
}

/** The suppression list of a workspace, as its keys manage it. An id that the workspace does not have gives undefined. */
export class ManageSuppressions {
  constructor(private readonly options: ManageSuppressionsOptions) {}

  list(
    workspaceId: WorkspaceId,
    page: PageRequest<SuppressionId>,
    filter: SuppressionFilter,
  ): Promise<Page<Suppression>> {
    return orUnavailable(this.options.suppressions.list(workspaceId, page, filter));
  }

  read(workspaceId: WorkspaceId, id: SuppressionId): Promise<Suppression | undefined> {
    return orUnavailable(this.options.suppressions.find(workspaceId, id));
  }

  /** Puts an address on the list; one that is on it already stays as it is. From then on no email leaves for it. */
  add(
    workspaceId: WorkspaceId,
    actor: Actor,
    wanted: NewSuppression,
  ): Promise<{ readonly suppression: Suppression; readonly isCreated: boolean }> {
    return orUnavailable(this.options.changes.add(workspaceId, actor, wanted));
  }

  /** Takes an entry off the list; what comes after leaves again. */
  remove(workspaceId: WorkspaceId, id: SuppressionId, actor: Actor): Promise<Suppression | undefined> {
    return orUnavailable(this.options.changes.remove(workspaceId, id, actor));
  }
}
