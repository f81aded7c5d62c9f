import { Coalescer } from '@posthorn/kernel';
import type { ContactStore, ContactUpsert, ContactWrite } from '@posthorn/database';
import { type FailedCall, serveGroup } from '../serve-group.ts';
import { workspaceGroups } from '../workspace-groups.ts';

type Call = readonly ContactUpsert[];

/** The results of the upserts of a call, in their order. */
interface WrittenCall {
  readonly kind: 'written';
  readonly writes: ContactWrite[];
}

/** Creates and updates contacts: concurrent calls share one transaction, whichever workspaces they belong to. */
export class UpsertContacts {
  private readonly groups: Coalescer<Call, WrittenCall | FailedCall>;

  constructor(private readonly store: Pick<ContactStore, 'upsert'>) {
    this.groups = new Coalescer({
      ...workspaceGroups(([upsert]: Call) => upsert!.workspaceId),
      serve: (calls) =>
        serveGroup(calls, {
          serve: (some, lockTimeoutMs) => this.write(some, lockTimeoutMs),
          lockedBy: contactOf,
        }),
      weightOf: (upserts) => upserts.length,
      bytesOf: (upserts) => Buffer.byteLength(JSON.stringify(upserts)),
    });
  }

  /**
   * Upserts one or more contacts of one workspace.
   *
   * @returns the result of each upsert, in their order
   * @throws what the database throws; nothing has changed then, unless the answer to the COMMIT was lost. Repeating the call is safe.
   */
  async upsert(upserts: Call): Promise<ContactWrite[]> {
    const outcome = await this.groups.add(upserts);
    if (outcome.kind === 'failed') throw outcome.error;
    return outcome.writes;
  }

  private async write(calls: readonly Call[], lockTimeoutMs?: number): Promise<WrittenCall[]> {
    const writes = await this.store.upsert(calls.flat(), lockTimeoutMs);
    let at = 0;
    return calls.map(({ length }) => ({ kind: 'written', writes: writes.slice(at, (at += length)) }));
  }
}

/** The contact of a call; a batch for several is distinct from all others. */
function contactOf(call: Call): unknown {
  const [{ workspaceId, email }] = call as [ContactUpsert];
  return call.length === 1 ? `${workspaceId} ${email.toLowerCase()}` : call;
}
