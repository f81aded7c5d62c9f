import { Module } from '@nestjs/common';
import { greetDatabase, openDatabase, OutboxStore, TemplateStore } from '@posthorn/database';
import {
  createHealthApp,
  createLogger,
  DatabaseSettings,
  HttpSettings,
  LaneSettings,
  loadEnvFile,
  LogSettings,
  readSettings,
  RedisSettings,
  reportRepeated,
  runUntilSignal,
  SenderSettings,
  startProcess,
} from '@posthorn/platform';
import { JobWorker, LaneRings, type LineName, QUEUES, turnHandler } from '@posthorn/queues';
import { HtmlToText, TemplateRenderer } from '@posthorn/rendering';
import { RelayBreaker, RelayTransport } from '@posthorn/smtp';
import {
  ComposeEmail,
  DeliverEmail,
  SendEmails,
  TemplateVersions,
  WithheldRecipients,
} from '@posthorn/use-cases';

@Module({})
class SenderModule {}

await startProcess('sender', async () => {
  loadEnvFile();
  const { http, database, redis, log, sender, lanes } = readSettings({
    http: HttpSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    log: LogSettings,
    sender: SenderSettings,
    lanes: LaneSettings,
  });
  const logger = createLogger(log, 'sender');
  const onError = reportRepeated(logger, 'something has to be tried again');
  const ringsOf = (line: LineName): LaneRings =>
    new LaneRings({ ...redis.options, line, rowsPerTurn: lanes.TURN_ROWS, onError });
  const [rings, eventRings] = [ringsOf('email'), ringsOf('event')];
  const db = openDatabase({
    ...database.options,
    applicationName: 'posthorn-sender',
    onIdleError: onError,
    onEventsDue: (laneIds) => laneIds.forEach((laneId) => eventRings.ring(laneId)),
  });
  await greetDatabase(db);
  const htmlToText = new HtmlToText();
  const renderer = new TemplateRenderer();
  const versions = new TemplateVersions(new TemplateStore(db));
  const transport = new RelayTransport(sender.SMTP_URL, {
    maxConnections: sender.SMTP_CONNECTIONS,
    maxMessagesPerConnection: sender.SMTP_MESSAGES_PER_CONNECTION,
    connectionTimeoutMs: sender.SMTP_CONNECTION_TIMEOUT_MS,
    greetingTimeoutMs: sender.SMTP_GREETING_TIMEOUT_MS,
    socketTimeoutMs: sender.SMTP_SOCKET_TIMEOUT_MS,
    requireTls: sender.SMTP_REQUIRE_TLS,
  });
  const breaker = new RelayBreaker();
  const outbox = new OutboxStore(db);
  const sendEmails = new SendEmails({
    outbox,
    rings,
    breaker,
    delivery: new DeliverEmail({
      composer: new ComposeEmail({ htmlToText, renderer, versions }),
      recipients: new WithheldRecipients(outbox),
      transport,
      breaker,
      onError,
      onRelay: ({ isAvailable, reason }) =>
        isAvailable
          ? logger.info('the relay takes emails again')
          : logger.error({ reason }, 'ALARM: the relay refuses us or cannot be reached; emails wait'),
    }),
    connections: sender.SMTP_CONNECTIONS,
    rowsPerTurn: lanes.TURN_ROWS,
    handoverMs: lanes.TURN_HANDOVER_MS,
    leaseMs: lanes.LEASE_MS,
    renewalMs: lanes.LEASE_RENEWAL_MS,
    marginMs: lanes.LEASE_MARGIN_MS,
    onError,
  });
  const worker = new JobWorker<'email.turn'>({
    ...redis.options,
    queue: QUEUES.emailTurns,
    concurrency: lanes.TURN_CONCURRENCY,
    handlers: { 'email.turn': turnHandler((laneId, slot) => sendEmails.serve(laneId, slot)) },
    onError,
  });
  const app = await createHealthApp(SenderModule, {
    logger,
    settings: http,
    health: {
      liveness: [{ name: 'turns', check: () => worker.liveness() }],
      dependencies: [
        { name: 'database', check: () => db.pool.query('SELECT 1') },
        { name: 'redis', check: () => rings.ping() },
      ],
    },
  });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'serving turns');
  const drain = [
    () => Promise.all([worker.close(), sendEmails.drain()]).then(() => undefined),
    () => rings.close(),
    () => eventRings.close(),
    () => transport.close(),
    () => htmlToText.close(),
    () => renderer.close(),
    () => db.close(),
  ];
  const ended = runUntilSignal(app, { logger, drain });
  // Not before a signal would be heard: what is begun must be finished.
  worker.start();
  await ended;
});
