import { Module } from '@nestjs/common';
import {
  greetDatabase,
  openDatabase,
  OperatorAccountStore,
  OutboxStore,
  OverviewStore,
  PausedLaneStore,
} from '@posthorn/database';
import {
  createHttpApp,
  createLogger,
  DashboardSettings,
  DatabaseSettings,
  HttpSettings,
  loadEnvFile,
  LogSettings,
  RateSettings,
  readSettings,
  RedisSettings,
  reportRepeated,
  runUntilSignal,
  startProcess,
  watchPool,
} from '@posthorn/platform';
import { RateLimiter, WatchedQueues } from '@posthorn/queues';
import { OperatorSessions } from '@posthorn/use-cases';
import express from 'express';
import { OverviewController } from './overview/overview.controller.ts';
import { queueBoards } from './queues/queue-boards.ts';
import { entrance } from './sign-in/entrance.ts';
import { SessionCookie } from './sign-in/session-cookie.ts';
import { SignInController, TrustedProxies } from './sign-in/sign-in.controller.ts';

const QUEUES_PATH = '/queues';
const MOST_FORM_BYTES = 8 * 1024;

@Module({})
class DashboardModule {}

await startProcess('dashboard', async () => {
  loadEnvFile();
  const { http, log, database, redis, rates, dashboard } = readSettings({
    http: HttpSettings,
    log: LogSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    rates: RateSettings,
    dashboard: DashboardSettings,
  });
  const logger = createLogger(log, 'dashboard');
  const onError = reportRepeated(logger, 'a dependency does not answer');
  const db = openDatabase({
    ...database.options,
    applicationName: 'posthorn-dashboard',
    onIdleError: onError,
  });
  await greetDatabase(db);
  watchPool(db.pool);
  const limiter = new RateLimiter({ ...redis.options, onError });
  const queues = new WatchedQueues(redis.options, onError);
  const url = new URL(dashboard.DASHBOARD_URL ?? `http://localhost:${http.HTTP_PORT}`);
  const sessions = new OperatorSessions(new OperatorAccountStore(db), limiter);
  const cookie = new SessionCookie(url.protocol === 'https:');
  const app = await createHttpApp(
    {
      module: DashboardModule,
      controllers: [OverviewController, SignInController],
      providers: [
        { provide: OperatorSessions, useValue: sessions },
        { provide: SessionCookie, useValue: cookie },
        { provide: TrustedProxies, useValue: new TrustedProxies(rates.options.trustedProxies) },
        { provide: OverviewStore, useValue: new OverviewStore(db) },
        { provide: OutboxStore, useValue: new OutboxStore(db) },
        { provide: PausedLaneStore, useValue: new PausedLaneStore(db) },
      ],
    },
    {
      logger,
      settings: http,
      readsJson: false,
      health: {
        dependencies: [
          { name: 'database', check: () => db.pool.query('SELECT 1') },
          { name: 'redis', check: () => queues.ping() },
        ],
      },
    },
  );
  app.use(entrance({ sessions, cookie, origin: url.origin, onError }));
  app.use('/sign-in', express.urlencoded({ extended: false, limit: MOST_FORM_BYTES }));
  app.use(QUEUES_PATH, queueBoards(queues, QUEUES_PATH));
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'open to operators');
  await runUntilSignal(app, {
    logger,
    drain: [() => queues.close(), () => limiter.close(), () => db.close()],
  });
});
