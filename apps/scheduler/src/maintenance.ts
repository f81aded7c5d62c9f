import { type UpkeepStore } from '@posthorn/database';
import { INVITATION_KEPT_DAYS } from '@posthorn/domain';
import { type Logger } from '@posthorn/platform';
import { type JobHandlers, type RegularJob } from '@posthorn/queues';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEYS_A_STATEMENT = 5_000;
const INVITATIONS_A_STATEMENT = 1_000;
/** A job that takes longer than its worker may be silent would look like a worker that is stuck; the next one goes on. */
const STATEMENTS_A_JOB = 100;
/** Far enough that a scheduler which is away for a season stops nobody from being accepted. */
const PARTITIONS_MONTHS_AHEAD = 3;

export type MaintenanceJob = 'idempotency-keys.expire' | 'invitations.expire' | 'partitions.make';

/** What is done regularly, and how often. */
export const REGULAR_JOBS: readonly (RegularJob & { readonly name: MaintenanceJob })[] = [
  { name: 'idempotency-keys.expire', everyMs: MINUTE_MS },
  { name: 'invitations.expire', everyMs: DAY_MS },
  { name: 'partitions.make', everyMs: DAY_MS },
];

/** How each is done. All of them may run twice, and at once. */
export function maintenanceHandlers(upkeep: UpkeepStore, logger: Logger): JobHandlers<MaintenanceJob> {
  return {
    'idempotency-keys.expire': async () => {
      const expired = await inBatches(KEYS_A_STATEMENT, (most) => upkeep.expireIdempotencyKeys(most));
      if (expired > 0) logger.info({ expired }, 'idempotency keys expired');
    },
    'invitations.expire': async () => {
      const forgotten = await inBatches(INVITATIONS_A_STATEMENT, (most) =>
        upkeep.expireInvitations(INVITATION_KEPT_DAYS, most),
      );
      if (forgotten > 0) logger.info({ forgotten }, 'old invitations were deleted');
    },
    'partitions.make': async () => {
      const made = await upkeep.makePartitions(PARTITIONS_MONTHS_AHEAD);
      if (made > 0) logger.info({ made }, 'partitions were made');
    },
  };
}

/** Repeats a statement that deals with so many rows at most until it has dealt with fewer. @returns with how many in all */
async function inBatches(most: number, statement: (most: number) => Promise<number>): Promise<number> {
  let all = 0;
  for (let round = 0; round < STATEMENTS_A_JOB; round += 1) {
    const some = await statement(most);
    all += some;
    if (some < most) break;
  }
  return all;
}
