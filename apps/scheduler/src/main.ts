import {
  checkDatabase,
  DomainCheckStore,
  waitForDatabase,
  openDatabase,
  OutboxStore,
  requireOwner,
  UsageStore,
} from '@posthorn/database';
import { DnsResolver } from '@posthorn/dns';
import {
  createHealthApp,
  createLogger,
  DatabaseSettings,
  DnsSettings,
  HttpSettings,
  LaneSettings,
  LogSettings,
  readSettings,
  RedisSettings,
  reportRepeated,
  RetentionSettings,
  runUntilSignal,
  startProcess,
  watchBacklog,
  watchMonthlyLimits,
  watchPool,
} from '@posthorn/platform';
import {
  Clock,
  closeRings,
  JobWorker,
  MaintenanceSchedule,
  QueueRepair,
  openRings,
  QUEUES,
  type RegularJobName,
} from '@posthorn/queues';
import { CheckDomain, CheckDueDomains } from '@posthorn/use-cases';
import { logTick } from './log-tick.ts';
import { logDomain } from './log-domain.ts';
import { INTERVALS_MS, maintenanceHandlers } from './maintenance.ts';

/** A clock that has made no progress for this long, although the database answers, is stuck. */
const CLOCK_STUCK_AFTER_MS = 60_000;

await startProcess('scheduler', async () => {
  const { http, database, redis, log, lanes, dns, retention } = readSettings({
    http: HttpSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    log: LogSettings,
    lanes: LaneSettings,
    dns: DnsSettings,
    retention: RetentionSettings,
  });
  const logger = createLogger(log, 'scheduler');
  const onError = reportRepeated(logger, 'something failed and will be tried again');
  const db = openDatabase({
    ...database.options,
    applicationName: 'posthorn-scheduler',
    onIdleError: onError,
  });
  await waitForDatabase(db, onError, () => requireOwner(db));
  watchPool(db.pool);
  const outbox = new OutboxStore(db);
  watchBacklog(() => outbox.measureBacklog());
  const usage = new UsageStore(db);
  watchMonthlyLimits(() => usage.highestShare());
  const checks = new DomainCheckStore(db);
  const checkDomain = new CheckDomain({
    checks,
    resolver: new DnsResolver(dns.options),
    spfInclude: dns.SPF_INCLUDE,
    clock: db.clock,
    onChange: (change, domain) => logDomain(logger, change, domain),
  });
  const ringsOptions = { ...redis.options, rowsPerTurn: lanes.TURN_ROWS, onError };
  const rings = openRings(['email', 'event', 'webhook', 'slowWebhook'], ringsOptions);
  const schedule = new MaintenanceSchedule(redis.options, INTERVALS_MS, onError);
  const queues = new QueueRepair({
    ...redis.options,
    onResumed: (queue) =>
      logger.warn({ queue }, 'a queue was paused or slowed down in Redis; it was resumed'),
    onReset: (queue) =>
      logger.warn({ queue }, 'a queue in Redis was overwritten with something else; it was reset'),
    onLost: (queue, jobs) =>
      logger.warn({ queue, jobs }, 'Redis had lost track of jobs of a queue; their lanes are rung again'),
    onError,
  });
  const worker = new JobWorker<RegularJobName>({
    ...redis.options,
    queue: QUEUES.maintenance,
    concurrency: 1,
    handlers: maintenanceHandlers({
      database: db,
      checkDueDomains: new CheckDueDomains({ checks, checkDomain, onError }),
      retention: retention.days,
      logger,
    }),
    onError,
  });
  const clock = new Clock({
    outbox,
    rings,
    tickMs: lanes.CLOCK_TICK_MS,
    graceMs: lanes.LEASE_GRACE_MS,
    renewalMs: lanes.LEASE_RENEWAL_MS,
    databaseNowMs: async () => {
      await checkDatabase(db);
      return db.clock.nowMs();
    },
    onTick: (found) => {
      logTick(logger, found);
      void queues.repair(found.lanes);
      void schedule.restore();
    },
    onError,
  });
  const app = await createHealthApp({
    logger,
    settings: http,
    health: {
      liveness: { maintenance: () => worker.liveness(), clock: () => clock.liveness(CLOCK_STUCK_AFTER_MS) },
      dependencies: { database: () => checkDatabase(db), redis: () => rings.email.ping() },
    },
  });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'the clock has started');
  const drain = [
    () => clock.stop(),
    () => worker.close(),
    () => Promise.all([schedule.close(), queues.close()]),
    () => closeRings(rings),
    () => db.close(),
  ];
  const ended = runUntilSignal(app, { logger, drain });
  worker.start();
  clock.start();
  await ended;
});
