import {
  checkDatabase,
  DeliveryStore,
  waitForDatabase,
  type NewWebhookNotice,
  openDatabase,
  OutboxStore,
  RateStore,
  ReceiverHealthStore,
} from '@posthorn/database';
import { DnsResolver } from '@posthorn/dns';
import {
  createHealthApp,
  createLogger,
  DatabaseSettings,
  DispatcherSettings,
  DnsSettings,
  HttpSettings,
  LaneSettings,
  type Logger,
  LogSettings,
  openTracing,
  readSettings,
  RedisSettings,
  reportRepeated,
  runUntilSignal,
  SecretSettings,
  startProcess,
  TraceSettings,
  WebhookSettings,
  watchPool,
} from '@posthorn/platform';
import { closeRings, JobWorker, openRings, QUEUES } from '@posthorn/queues';
import { DeliverEvent, DeliverEvents, FanOutEvents, Receivers, RecordRates } from '@posthorn/use-cases';
import { WebhookClient } from '@posthorn/webhooks';

await startProcess('webhook-dispatcher', async () => {
  const { http, database, redis, log, traces, secrets, dns, webhooks, dispatcher, lanes } = readSettings({
    http: HttpSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    log: LogSettings,
    traces: TraceSettings,
    secrets: SecretSettings,
    dns: DnsSettings,
    webhooks: WebhookSettings,
    dispatcher: DispatcherSettings,
    lanes: LaneSettings,
  });
  const logger = createLogger(log, 'webhook-dispatcher');
  const tracing = await openTracing(traces, 'webhook-dispatcher', logger);
  const onError = reportRepeated(logger, 'something failed and will be tried again');
  const db = openDatabase({
    ...database.options,
    applicationName: 'posthorn-webhook-dispatcher',
    onIdleError: onError,
  });
  await waitForDatabase(db, onError);
  watchPool(db.pool);
  const rates = new RecordRates({ rates: new RateStore(db), onError });
  const ringsOptions = { ...redis.options, rowsPerTurn: lanes.TURN_ROWS, onError };
  const rings = openRings(['event', 'webhook', 'slowWebhook'], ringsOptions);
  const resolver = new DnsResolver(dns.options);
  const client = new WebhookClient({
    policy: webhooks.policy,
    lookUp: (name) => resolver.lookUpAddresses(name),
  });
  const deliveries = new DeliveryStore(db);
  const deliverEvents = new DeliverEvents({
    outbox: new OutboxStore(db),
    deliveries,
    health: new ReceiverHealthStore(db),
    delivery: new DeliverEvent({
      receivers: new Receivers(deliveries, secrets.box),
      client,
      clock: db.clock,
      deadlineMs: dispatcher.WEBHOOK_DEADLINE_MS,
      tracer: tracing.tracer,
      onError,
    }),
    rings,
    connections: dispatcher.WEBHOOK_CONNECTIONS,
    slowConnections: dispatcher.WEBHOOK_SLOW_CONNECTIONS,
    ...lanes.options,
    onNotice: (newNotice) => logNotice(logger, newNotice),
    onError,
  });
  const fanOut = new FanOutEvents({
    deliveries,
    rings,
    spareCapacity: deliverEvents.spareCapacity,
    eventsPerTurn: lanes.TURN_ROWS,
    handoverMs: lanes.TURN_HANDOVER_MS,
    leaseMs: lanes.LEASE_MS,
  });
  const workerOptions = { ...redis.options, concurrency: lanes.TURN_CONCURRENCY, onError };
  const workers = [
    new JobWorker<'event.turn'>({
      ...workerOptions,
      queue: QUEUES.eventTurns,
      handlers: { 'event.turn': ({ laneId, slot }) => fanOut.serve(laneId, slot) },
    }),
    new JobWorker<'webhook.turn'>({
      ...workerOptions,
      queue: QUEUES.webhookTurns,
      handlers: { 'webhook.turn': ({ laneId, slot }) => deliverEvents.serve(laneId, slot) },
    }),
    new JobWorker<'slow-webhook.turn'>({
      ...workerOptions,
      queue: QUEUES.slowWebhookTurns,
      handlers: { 'slow-webhook.turn': ({ laneId, slot }) => deliverEvents.serveSlow(laneId, slot) },
    }),
  ];
  const app = await createHealthApp({
    logger,
    settings: http,
    health: {
      liveness: Object.fromEntries(workers.map((worker) => [worker.queue, () => worker.liveness()])),
      dependencies: { database: () => checkDatabase(db), redis: () => rings.webhook.ping() },
    },
  });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'serving turns');
  const drain = [
    () => Promise.all([...workers.map((worker) => worker.close()), deliverEvents.drain()]),
    () => closeRings(rings),
    () => client.close(),
    () => rates.close(),
    () => db.close(),
    () => tracing.close(),
  ];
  const ended = runUntilSignal(app, { logger, drain });
  // Only after the signal handlers are installed: work that has begun must be finished on shutdown.
  for (const worker of workers) worker.start();
  await ended;
});

/** Without the URL, which may contain a secret of its workspace. */
function logNotice(logger: Logger, { workspaceId, webhookId, notice }: NewWebhookNotice): void {
  const where = { workspaceId, webhookId, notice };
  if (notice === 'FAILING') logger.warn(where, 'a webhook has been failing for days');
  else logger.warn(where, 'a webhook was disabled');
}
