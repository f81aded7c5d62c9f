import { Coalescer } from '@posthorn/kernel';
import {
  type ContactStore,
  type ContactUpsert,
  type ContactWrite,
  type DatabaseFault,
  faultOf,
} from '@posthorn/database';
import { workspaceGroups } from '../workspace-groups.ts';

const CONFLICT_TRIES = 3;
/** How long the parts of a group that has met a locked contact may wait for locks, all together. */
const PARTS_WAIT_MS = 2_000;

type Call = readonly ContactUpsert[];

/** The outcome of a call: the result of each of its upserts, or the error of the whole call. */
type CallOutcome = { readonly writes: ContactWrite[] } | { readonly error: unknown };

/** Creates and updates contacts: concurrent calls share one transaction, whichever workspaces they belong to. */
export class UpsertContacts {
  private readonly groups: Coalescer<Call, CallOutcome>;

  constructor(private readonly store: Pick<ContactStore, 'upsert'>) {
    this.groups = new Coalescer({
      ...workspaceGroups(([upsert]: Call) => upsert!.workspaceId),
      serve: (calls) => this.serve(calls),
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
    if ('error' in outcome) throw outcome.error;
    return outcome.writes;
  }

  /** @param lockTimeoutMs how long to wait for a locked contact; default: as long as any statement may */
  private async serve(calls: readonly Call[], lockTimeoutMs?: number): Promise<CallOutcome[]> {
    try {
      const writes = await this.write(calls.flat(), lockTimeoutMs);
      let at = 0;
      return calls.map(({ length }) => ({ writes: writes.slice(at, (at += length)) }));
    } catch (error) {
      const parts = separable(calls, faultOf(error));
      if (parts.length === 1) throw error;
      const outcomeOf = await this.serveOneByOne(parts);
      return calls.map((call) => outcomeOf.get(call)!);
    }
  }

  /** Serves parts on one connection: all at once, hundreds of locked contacts would take every connection from everybody else. */
  private async serveOneByOne(parts: readonly (readonly Call[])[]): Promise<Map<Call, CallOutcome>> {
    const outcomeOf = new Map<Call, CallOutcome>();
    let outage: CallOutcome | undefined;
    for (const part of parts) {
      const outcomes =
        outage === undefined
          ? await this.servePart(part, PARTS_WAIT_MS / parts.length)
          : part.map(() => outage!);
      for (const [n, call] of part.entries()) outcomeOf.set(call, outcomes[n]!);
      // The database has become unreachable: the remaining parts fail in the same way, without waiting for that one by one.
      outage ??= outcomes.find((outcome) => 'error' in outcome && isUnreachable(outcome.error));
    }
    return outcomeOf;
  }

  /** Serves a part of a group; an error becomes the outcome of all calls of this part. */
  private async servePart(part: readonly Call[], lockTimeoutMs: number): Promise<CallOutcome[]> {
    try {
      return await this.serve(part, lockTimeoutMs);
    } catch (error) {
      return part.map(() => ({ error }));
    }
  }

  private async write(upserts: readonly ContactUpsert[], lockTimeoutMs?: number): Promise<ContactWrite[]> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.store.upsert(upserts, lockTimeoutMs);
      } catch (error) {
        if (faultOf(error) !== 'conflict' || tries >= CONFLICT_TRIES) throw error;
      }
    }
  }
}

const isUnreachable = (error: unknown): boolean => ['unavailable', 'lost'].includes(faultOf(error));

/** The parts of a group of which some may succeed after a fault. The calls for a locked contact are one: else each of them would wait for it. */
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
