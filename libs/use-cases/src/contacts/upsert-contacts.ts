import { Coalescer } from '@posthorn/kernel';
import {
  type ContactStore,
  type ContactUpsert,
  type ContactWrite,
  type DatabaseFault,
  faultOf,
} from '@posthorn/database';
import { partitionOf } from '../accept/partition-of.ts';

const MAX_CONTACTS_PER_GROUP = 500;
const MAX_BYTES_PER_GROUP = 8 * 1024 * 1024;
const GROUPS_AT_ONCE = 4;
const CONFLICT_TRIES = 3;

type Call = readonly ContactUpsert[];

/** The outcome of a call: the result of each of its upserts, or the error of the whole call. */
type CallOutcome = { readonly writes: ContactWrite[] } | { readonly error: unknown };

/** Creates and updates contacts: concurrent calls share one transaction, whichever workspaces they belong to. */
export class UpsertContacts {
  private readonly groups: Coalescer<Call, CallOutcome>;

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
  async upsert(upserts: Call): Promise<ContactWrite[]> {
    const outcome = await this.groups.add(upserts);
    if ('error' in outcome) throw outcome.error;
    return outcome.writes;
  }

  private async serve(calls: readonly Call[]): Promise<CallOutcome[]> {
    try {
      const writes = await this.write(calls.flat());
      let at = 0;
      return calls.map(({ length }) => ({ writes: writes.slice(at, (at += length)) }));
    } catch (error) {
      const parts = separable(calls, faultOf(error));
      if (parts.length === 1) throw error;
      const outcomes = await Promise.all(parts.map((part) => this.servePart(part)));
      const outcomeOf = new Map(parts.flatMap((part, n) => part.map((call, m) => [call, outcomes[n]![m]!])));
      return calls.map((call) => outcomeOf.get(call)!);
    }
  }

  /** Serves a part of a group; an error becomes the outcome of all calls of this part. */
  private async servePart(part: readonly Call[]): Promise<CallOutcome[]> {
    try {
      return await this.serve(part);
    } catch (error) {
      return part.map(() => ({ error }));
    }
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

/** The parts of a group of which some may succeed after a fault. The calls for a locked contact are one: else each of them would hold a connection while it waits. */
function separable(calls: readonly Call[], fault: DatabaseFault): (readonly Call[])[] {
  if (fault === 'data') return calls.map((call) => [call]);
  if (fault === 'locked' || fault === 'conflict') return [...Map.groupBy(calls, contactOf).values()];
  return [calls];
}

/** The contact of a call; a batch for several is distinct from all others. */
function contactOf(call: Call): unknown {
  const [{ workspaceId, email }] = call as [ContactUpsert];
  return call.length === 1 ? `${workspaceId} ${email.toLowerCase()}` : call;
}
