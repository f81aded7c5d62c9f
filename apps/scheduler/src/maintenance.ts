import {
  type Database,
  EraStore,
  ErasureStore,
  RecoveryStore,
  RetentionStore,
  UpkeepStore,
} from '@posthorn/database';
import {
  ERASURES_KEPT_DAYS,
  MAX_EVENTS_KEPT_DAYS,
  EVENTS_KEPT_DAYS,
  EXHAUSTED_KEPT_DAYS,
  HELD_DAYS,
  INVITATION_KEPT_DAYS,
  RECOVERIES_KEPT_DAYS,
  type Retention,
  VERIFICATION_MAILS_COUNTED_SECONDS,
} from '@posthorn/domain';
import type { Logger } from '@posthorn/platform';
import type { JobHandlers, RegularJobName } from '@posthorn/queues';
import { type CheckDueDomains, RemoveOld, ServeErasures } from '@posthorn/use-cases';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const KEYS_PER_STATEMENT = 5_000;
const INVITATIONS_PER_STATEMENT = 1_000;
const LINKS_PER_STATEMENT = 1_000;
const DELIVERIES_PER_STATEMENT = 5_000;
/** Of the deliveries that a recovery puts back, at most twice this many are due at once, so that those of new events do not wait long behind them. */
const RECOVERY_BOUNDS = { looked: 2_000, ready: 2_000 } as const;
/**
 * A job begins nothing more after this time, because other jobs wait for it, and a worker that is silent for a minute looks stuck. The next job
 * does the rest.
 */
const JOB_WITHIN_MS = 8_000;
/** Far enough ahead that emails are still accepted when no scheduler has run for months. */
const PARTITIONS_MONTHS_AHEAD = 3;

/** Short, because other jobs wait for these, and to leave the database idle most of the time. */
const REMOVING_WITHIN_MS = 2_000;
const ERASING_WITHIN_MS = 2_000;

/** The intervals of the regular jobs. */
export const INTERVALS_MS: Readonly<Record<RegularJobName, number>> = {
  'idempotency-keys.expire': MINUTE_MS,
  'invitations.expire': DAY_MS,
  'installation.note-alive': MINUTE_MS,
  // Frequent, because the clock of the database may be set to a month without partitions, and nothing is accepted until they exist. It costs only a few look-ups
  // in the catalogue.
  'partitions.make': 10_000,
  'events.expire': 60 * MINUTE_MS,
  'deliveries.expire': 60 * MINUTE_MS,
  'deliveries.put-back': 5_000,
  'deliveries.recover': 2_000,
  'recoveries.forget': 60 * MINUTE_MS,
  'erasures.run': 2_000,
  'erasures.forget': 60 * MINUTE_MS,
  'domains.check': 10_000,
  'verification-links.expire': 60 * MINUTE_MS,
  'retention.drop': 60 * MINUTE_MS,
  'retention.remove': 10_000,
};

interface MaintenanceOptions {
  readonly database: Database;
  readonly checkDueDomains: CheckDueDomains;
  /** That of workspaces that have none of their own. */
  readonly retention: Retention;
  readonly logger: Logger;
}

/** The handlers of the regular jobs. All of them are idempotent and may run concurrently; a failure of one does not affect the others. */
export function maintenanceHandlers({
  database,
  checkDueDomains,
  retention,
  logger,
}: MaintenanceOptions): JobHandlers<RegularJobName> {
  const upkeep = new UpkeepStore(database);
  const eras = new EraStore(database);
  const recoveries = new RecoveryStore(database);
  const erasures = new ErasureStore(database);
  const serveErasures = new ServeErasures(erasures);
  const removeOld = new RemoveOld(new RetentionStore(database), retention);
  const logIfAny = (done: Readonly<Record<string, number>>, message: string): void => {
    if (Object.values(done).some((count) => count > 0)) logger.info(done, message);
  };
  return {
    'idempotency-keys.expire': async () => {
      const expired = await untilZero(() => upkeep.expireIdempotencyKeys(KEYS_PER_STATEMENT));
      logIfAny({ expired }, 'idempotency keys expired');
    },
    'invitations.expire': async () => {
      const deleted = await untilZero(() =>
        upkeep.expireInvitations(INVITATION_KEPT_DAYS, INVITATIONS_PER_STATEMENT),
      );
      logIfAny({ deleted }, 'old invitations were deleted');
    },
    'installation.note-alive': () => eras.noteAlive(),
    'partitions.make': async () => {
      logIfAny({ made: await upkeep.makePartitions(PARTITIONS_MONTHS_AHEAD) }, 'partitions were created');
    },
    'events.expire': async () => {
      const eventDays = await removeOld.longestEventDays();
      const maxDays = eventDays + MAX_EVENTS_KEPT_DAYS - EVENTS_KEPT_DAYS;
      const dropped = await untilZero(() => upkeep.dropOldEvents(eventDays, EXHAUSTED_KEPT_DAYS, maxDays));
      logIfAny({ dropped }, 'partitions of old events were dropped');
    },
    'deliveries.expire': async () => {
      const expired = await untilZero(() => upkeep.expireHeldDeliveries(HELD_DAYS, DELIVERIES_PER_STATEMENT));
      if (expired > 0) logger.warn({ expired }, 'deliveries that had been held for too long were given up');
    },
    'deliveries.put-back': async () => {
      const putBack = await untilNone(() => upkeep.putBackDeliveries(DELIVERIES_PER_STATEMENT));
      logIfAny({ putBack }, 'failed deliveries of webhooks that are active again are due again');
    },
    'deliveries.recover': async () => {
      const recovered = await untilNone(() => recoveries.recoverGroup(RECOVERY_BOUNDS));
      logIfAny({ recovered }, 'failed deliveries are due again, as was requested');
    },
    'recoveries.forget': async () => {
      await recoveries.forget(RECOVERIES_KEPT_DAYS);
    },
    'erasures.run': async () => {
      logIfAny(
        { searched: await serveErasures.runWithin(ERASING_WITHIN_MS) },
        'persons are being erased, as was requested',
      );
    },
    'erasures.forget': async () => {
      await erasures.forget(ERASURES_KEPT_DAYS);
    },
    'domains.check': async () => {
      logIfAny({ checked: await checkDueDomains.run(JOB_WITHIN_MS) }, 'DNS records of domains were checked');
    },
    'verification-links.expire': async () => {
      await untilZero(() =>
        upkeep.expireVerificationLinks(VERIFICATION_MAILS_COUNTED_SECONDS, LINKS_PER_STATEMENT),
      );
    },
    'retention.drop': async () => {
      logIfAny({ dropped: await removeOld.dropMonths() }, 'partitions of old emails were dropped');
    },
    'retention.remove': async () => {
      const { content, metadata, events } = await removeOld.removeWithin(REMOVING_WITHIN_MS);
      logIfAny({ content, metadata, events }, 'data past its retention period was removed');
    },
  };
}

/** Repeats a statement until it affects no rows. (Fewer rows than its limit do not mean that none are left: it may have run out of time.) @returns the total number of rows */
function untilZero(statement: () => Promise<number>): Promise<number> {
  return untilNone(async () => (await statement()) || undefined);
}

/** Repeats a statement until it returns undefined, which means that nothing is left to do. @returns the total number of rows */
async function untilNone(statement: () => Promise<number | undefined>): Promise<number> {
  let all = 0;
  const deadline = performance.now() + JOB_WITHIN_MS;
  while (performance.now() < deadline) {
    const some = await statement();
    if (some === undefined) break;
    all += some;
  }
  return all;
}
