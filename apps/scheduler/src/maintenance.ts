import { type UpkeepStore } from '@posthorn/database';
import { type Logger } from '@posthorn/platform';
import { type JobHandlers, type RegularJob } from '@posthorn/queues';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEYS_A_STATEMENT = 5_000;
/** A job that takes longer than its worker may be silent would look like a worker that is stuck; the next one goes on. */
const STATEMENTS_A_JOB = 100;
/** Far enough that a scheduler which is away for a season stops nobody from being accepted. */
const PARTITIONS_MONTHS_AHEAD = 3;

export type MaintenanceJob = 'idempotency-keys.expire' | 'partitions.make';

/** What is done regularly, and how often. */
export const REGULAR_JOBS: readonly (RegularJob & { readonly name: MaintenanceJob })[] = [
  { name: 'idempotency-keys.expire', everyMs: MINUTE_MS },
  { name: 'partitions.make', everyMs: DAY_MS },
];

/** How each is done. All of them may run twice, and at once. */
export function maintenanceHandlers(upkeep: UpkeepStore, logger: Logger): JobHandlers<MaintenanceJob> {
  return {
    'idempotency-keys.expire': async () => {
      let expired = 0;
      for (let statement = 0; statement < STATEMENTS_A_JOB; statement += 1) {
        const some = await upkeep.expireIdempotencyKeys(KEYS_A_STATEMENT);
        expired += some;
        if (some < KEYS_A_STATEMENT) break;
      }
      if (expired > 0) logger.info({ expired }, 'idempotency keys expired');
    },
    'partitions.make': async () => {
      const made = await upkeep.makePartitions(PARTITIONS_MONTHS_AHEAD);
      if (made > 0) logger.info({ made }, 'partitions were made');
    },
  };
}
