import { Coalescer } from '@posthorn/kernel';
import { type ContactStore, type ContactUpsert, type ContactWrite, faultOf } from '@posthorn/database';
import { partitionOf } from '../accept/partition-of.ts';

const MAX_CONTACTS_PER_GROUP = 500;
const MAX_BYTES_PER_GROUP = 8 * 1024 * 1024;
const GROUPS_AT_ONCE = 4;
const CONFLICT_TRIES = 3;

/** The outcome of a call: the result of each of its upserts, or the error of the whole call. */
type CallOutcome = { readonly writes: ContactWrite[] } | { readonly error: unknown };

/** Creates and updates contacts: concurrent calls share one transaction, whichever workspaces they belong to. */
export class UpsertContacts {
  private readonly groups: Coalescer<readonly ContactUpsert[], CallOutcome>;

  constructor(private readonly store: Pick<ContactStore, 'upsert'>) {
    this.groups = new Coalescer({
      serve: (calls) => this.serve(calls),
      maxItems: MAX_CONTACTS_PER_GROUP,
      weightOf: (upserts) => upserts.length,
      maxBytes: MAX_BYTES_PER_GROUP,
      bytesOf: (upserts) => Buffer.byteLength(JSON.stringify(upserts)),
      partitions: GROUPS_AT_ONCE,
      partitionOf: ([upsert]) => partitionOf(upsert!.workspaceId),
    });
  }

  /**
   * Upserts one or more contacts of one workspace.
   *
   * @returns the result of each upsert, in their order
   * @throws what the database throws; nothing has changed then, unless the answer to the COMMIT was lost. Repeating the call is safe.
   */
  async upsert(upserts: readonly ContactUpsert[]): Promise<ContactWrite[]> {
    const outcome = await this.groups.add(upserts);
    if ('error' in outcome) throw outcome.error;
    return outcome.writes;
  }

  private async serve(calls: readonly (readonly ContactUpsert[])[]): Promise<CallOutcome[]> {
    try {
      const writes = await this.write(calls.flat());
      let at = 0;
      return calls.map(({ length }) => ({ writes: writes.slice(at, (at += length)) }));
    } catch (error) {
      if (calls.length === 1 || !isOfOneCall(error)) throw error;
      return this.serveOneByOne(calls);
    }
  }

  /** Serves each call separately, so that a locked contact or a value that the database refuses fails only its own call. */
  private async serveOneByOne(calls: readonly (readonly ContactUpsert[])[]): Promise<CallOutcome[]> {
    const settled = await Promise.allSettled(calls.map((upserts) => this.write(upserts)));
    return settled.map((one) =>
      one.status === 'fulfilled' ? { writes: one.value } : { error: one.reason as unknown },
    );
  }

  private async write(upserts: readonly ContactUpsert[]): Promise<ContactWrite[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.store.upsert(upserts);
      } catch (error) {
        if (faultOf(error) !== 'conflict' || tries >= CONFLICT_TRIES) throw error;
      }
    }
  }
}

function isOfOneCall(error: unknown): boolean {
  return ['data', 'locked', 'conflict'].includes(faultOf(error));
}
