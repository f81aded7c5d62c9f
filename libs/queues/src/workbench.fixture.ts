import type { LaneId } from '@posthorn/domain';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldRow, WorkbenchOptions } from './workbench-options.ts';
import { Workbench } from './workbench.ts';

/** A row with a name that is unique within a test. */
export interface Row extends HeldRow {
  readonly name: string;
}

/** A workbench, and the names of the rows that it has begun and given back. */
interface TestBench {
  readonly bench: Workbench<Row, string>;
  readonly begun: string[];
  readonly given: string[];
}

export const lane = (name: string): LaneId => name as LaneId;

export function rowsOf(laneName: string, count: number): Row[] {
  return Array.from({ length: count }, (_nothing, index) => ({
    name: `${laneName}${index}`,
    laneId: lane(laneName),
    bytes: 10,
    laneHasMore: false,
  }));
}

/** Makes workbenches for tests: leases of 60 s, of which 30 s must be left, and work that takes a millisecond. */
export class Benches {
  private readonly made: Workbench<Row, string>[] = [];

  make(change: Partial<WorkbenchOptions<Row, string>> = {}): TestBench {
    const begun: string[] = [];
    const given: string[] = [];
    const bench = new Workbench<Row, string>({
      concurrency: 1,
      maxUnrecorded: 100,
      maxRows: 20,
      maxBytes: 1_000,
      leaseMs: 60_000,
      renewalMs: 20_000,
      marginMs: 30_000,
      work: async (row) => {
        begun.push(row.name);
        await sleep(1);
        return 'done';
      },
      record: () => Promise.resolve(),
      renew: (rows) => Promise.resolve(rows),
      giveBack: (rows) => Promise.resolve(void given.push(...rows.map((row) => row.name))),
      onError: (error) => {
        throw error;
      },
      ...change,
    });
    this.made.push(bench);
    return { bench, begun, given };
  }

  /** Like {@link make}; rows whose name begins with `prefix` are not finished before `free` is called. */
  makeHanging(
    prefix: string,
    change: Partial<WorkbenchOptions<Row, string>>,
  ): Omit<TestBench, 'given'> & { readonly free: () => void } {
    const begun: string[] = [];
    const { promise, resolve: free } = Promise.withResolvers<void>();
    const { bench } = this.make({
      work: async ({ name }) => {
        begun.push(name);
        if (name.startsWith(prefix)) await promise;
        return 'done';
      },
      ...change,
    });
    return { bench, begun, free };
  }

  /** Drains all that were made. */
  async drain(): Promise<void> {
    await Promise.all(this.made.splice(0).map((bench) => bench.drain()));
  }
}
