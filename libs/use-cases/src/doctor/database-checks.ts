import {
  type ExaminedDatabase,
  sealContextOf,
  SEALED_COLUMNS,
  type SealedColumn,
  throwRefusedConnection,
} from '@posthorn/database';
import {
  advice,
  describeSize,
  fault,
  type Finding,
  good,
  judgeAutovacuum,
  judgeBacklog,
  judgeClock,
  judgeCollation,
  judgeConnections,
  judgeDurability,
  judgeEditors,
  judgeLeases,
  judgeLimits,
  judgeLocks,
  judgeOutcomes,
  judgeOwnership,
  judgePartitions,
  judgePostgresVersion,
  judgePreparedTransactions,
  judgeScheduler,
  judgeSenders,
  judgeSlots,
  judgeTransactions,
  judgeWritable,
} from '@posthorn/domain';
import { type SecretBox, SecretNotOpened } from '@posthorn/signing';
import { idFromUuid } from '@posthorn/kernel';
import type { Check } from './examine.ts';
import { findRestoration } from '../operate/sending-status.ts';

/** The database to examine, and what is needed to examine it. */
interface ExaminedInstallation {
  readonly database: ExaminedDatabase;
  /** The migrations that have not been applied. @throws MigrationMismatch */
  readonly findMissingMigrations: () => Promise<readonly string[]>;
  /** Undefined when ENCRYPTION_KEYS is not usable, which another check reports. */
  readonly box: SecretBox | undefined;
  /** Whether there is a sender for Posthorn's own mails. */
  readonly sendsMails: boolean;
}

/** The checks of the database: first of the server, then of Posthorn's data in it. */
export function databaseChecks(installation: ExaminedInstallation): Check[] {
  return checksOf(installation).map((check) => ({
    ...check,
    run: async () => {
      try {
        return await check.run();
      } catch (error) {
        throwRefusedConnection(error);
      }
    },
  }));
}

function checksOf(installation: ExaminedInstallation): Check[] {
  const { database, sendsMails } = installation;
  return [
    { name: 'postgres.version', run: async () => judgePostgresVersion(await database.readServer()) },
    { name: 'postgres.durability', run: async () => judgeDurability(await database.readServer()) },
    { name: 'postgres.writable', run: async () => judgeWritable(await database.readServer()) },
    { name: 'postgres.room', run: () => judgeDiskSpace(database) },
    { name: 'postgres.collation', run: async () => judgeCollation(await database.readServer()) },
    { name: 'postgres.connections', run: async () => judgeConnections(await database.readServer()) },
    { name: 'postgres.locks', run: async () => judgeLocks(await database.findOpenTransactions()) },
    {
      name: 'postgres.transactions',
      run: async () => judgeTransactions(await database.findOpenTransactions()),
    },
    {
      name: 'postgres.prepared-transactions',
      run: async () => judgePreparedTransactions(await database.findPreparedTransactions()),
    },
    {
      name: 'postgres.replication-slots',
      run: async () => judgeSlots(await database.findInactiveSlots()),
    },
    { name: 'postgres.size', run: async () => describeSize(await database.readServer()) },
    {
      name: 'postgres.clock',
      run: async () => {
        const { offsetMs, roundTripMs } = await database.readClock();
        return judgeClock('Postgres', offsetMs, roundTripMs);
      },
    },
    { name: 'database.migrations', run: () => judgeMigrations(installation) },
    {
      name: 'database.owner',
      run: async () => judgeOwnership(await database.readOwnership()),
    },
    {
      name: 'database.partitions',
      run: async () => judgePartitions(await database.findMissingPartitions()),
    },
    {
      name: 'database.autovacuum',
      run: async () => judgeAutovacuum(await database.readServer(), await database.readOutboxTable()),
    },
    { name: 'database.secrets', run: () => judgeSecrets(installation) },
    { name: 'work.restored', run: () => judgeRestoration(database) },
    { name: 'work.paused', run: () => judgePauses(database) },
    { name: 'work.senders', run: async () => judgeSenders(await database.rates.relays()) },
    { name: 'work.outcomes', run: () => judgeRecentOutcomes(database) },
    { name: 'work.due', run: async () => judgeBacklog(await database.findDue()) },
    { name: 'work.leases', run: async () => judgeLeases(await database.findDue()) },
    {
      name: 'work.editors',
      run: async () => judgeEditors(sendsMails, await database.findWithoutEditor()),
    },
    { name: 'work.limits', run: async () => judgeLimits(await database.findHighestUsage()) },
    {
      name: 'work.scheduler',
      run: async () => {
        const { now, aliveAt } = await database.eras.read();
        return judgeScheduler((now.getTime() - aliveAt.getTime()) / 1_000);
      },
    },
  ];
}

/** Checks the free disk space: with a full disk, reads go on working as if all were well. */
async function judgeDiskSpace(database: ExaminedDatabase): Promise<Finding> {
  await database.checkDiskSpace();
  return good('the disk of Postgres has room');
}

async function judgeMigrations({ findMissingMigrations }: ExaminedInstallation): Promise<Finding> {
  const missing = await findMissingMigrations();
  if (missing.length === 0) return good('every migration of this release is applied');
  return fault(
    `${missing.length} migrations are not applied, the first is ${missing[0]}`,
    'run npm run migrate',
  );
}

/** Decrypts the newest stored secret of each kind, and discards the plaintext. */
async function judgeSecrets({ database, box }: ExaminedInstallation): Promise<Finding> {
  if (box === undefined)
    return fault('there is no usable key ring', 'set ENCRYPTION_KEYS to what the apps have');
  let opened = 0;
  const closed: string[] = [];
  for (const column of Object.values(SEALED_COLUMNS)) {
    for (const { rowId, sealed } of await database.readSealed(column)) {
      const secret = box.tryToOpen(sealed, sealContextOf(column, rowId));
      if (secret instanceof SecretNotOpened) closed.push(`${ownerOf(column, rowId)}: ${secret.message}`);
      else opened += 1;
    }
  }
  if (closed.length === 0) return good(`all ${opened} stored secrets that were tried can be decrypted`);
  return fault(
    `${closed.length} of ${opened + closed.length} stored secrets cannot be decrypted, the first is ${closed[0]}`,
    'put the key that they need back at the end of ENCRYPTION_KEYS; if it is lost for good, its workspaces give each webhook another token ' +
      '(POST /v1/webhooks/{webhook_id}/rotate-token) and each domain other keys (POST /v1/identities/{identity_id}/rotate-keys)',
  );
}

/** Webhooks are named as the API and the dashboard do, so that they can be found. */
function ownerOf({ table }: SealedColumn, rowId: string): string {
  return `${table} ${table === SEALED_COLUMNS.webhookToken.table ? idFromUuid('wh', rowId) : rowId}`;
}

const RESUME =
  'give up what was due before the time at which the lost system stopped: posthorn resume --fail-before TIME; or send it, possibly again: posthorn resume';

async function judgeRestoration({ eras }: ExaminedDatabase): Promise<Finding> {
  const { isOfHere, aliveAt } = await eras.read();
  if (!isOfHere)
    return advice(
      `the database was restored or copied from one that was at work until ${aliveAt.toISOString()}; the first app that starts pauses everything`,
      'start the apps, then look again',
    );
  const restoration = await findRestoration(eras);
  if (restoration === null)
    return good('the database is where it was made, or was resumed since it was restored');
  const { queues, areAll } = restoration.counted;
  const counts = queues.map(({ queue, dueBefore, dueSince }) => `${queue}: ${dueBefore} and ${dueSince}`);
  return advice(
    `the database was restored and has been paused since ${restoration.heldSince.toISOString()}; the backup was made at about ` +
      `${restoration.dumpedAt.toISOString()}. Due then and since: ${areAll ? '' : 'at least '}${counts.join(', ')}`,
    RESUME,
  );
}

const RECENT_MS = 10 * 60_000;

async function judgeRecentOutcomes({ rates, eras }: ExaminedDatabase): Promise<Finding> {
  const [counted, { now }] = await Promise.all([rates.lastHour(), eras.read()]);
  return judgeOutcomes(counted.filter(({ minute }) => now.getTime() - minute.getTime() <= RECENT_MS));
}

async function judgePauses(database: ExaminedDatabase): Promise<Finding> {
  const paused = await database.listPausedQueues();
  if (paused.length === 0) return good('no queue is paused as a whole');
  const texts = paused.map(
    ({ queue, reason, pausedAt }) => `${queue} since ${pausedAt.toISOString()} (${reason})`,
  );
  return advice(`paused: ${texts.join(', ')}`, 'when the reason is gone: posthorn resume');
}
