import { checkDatabase, waitForDatabase, openDatabase, OutboxStore, RateStore } from '@posthorn/database';
import {
  BounceSettings,
  MessageSettings,
  createHealthApp,
  createLogger,
  DatabaseSettings,
  HttpSettings,
  LaneSettings,
  LogSettings,
  openTracing,
  readSettings,
  RedisSettings,
  RelayTokenSettings,
  reportRepeated,
  runUntilSignal,
  SecretSettings,
  SenderSettings,
  startProcess,
  TraceSettings,
  TrackingSettings,
  watchPool,
} from '@posthorn/platform';
import { closeRings, JobWorker, LaneGate, openRings, QUEUES } from '@posthorn/queues';
import { closeRenderers, openRenderers } from '@posthorn/rendering';
import { Pace } from '@posthorn/smtp';
import {
  composerParts,
  DeliverEmail,
  EmailSpans,
  openComposer,
  RecordRates,
  SendEmails,
  WithheldRecipients,
} from '@posthorn/use-cases';
import { openRelays, RelayStates } from './open-relays.ts';

await startProcess('sender', async () => {
  const settings = readSettings({
    http: HttpSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    log: LogSettings,
    traces: TraceSettings,
    secrets: SecretSettings,
    sender: SenderSettings,
    relayTokens: RelayTokenSettings,
    bounces: BounceSettings,
    messages: MessageSettings,
    lanes: LaneSettings,
    tracking: TrackingSettings,
  });
  const { http, redis, secrets, sender, bounces, lanes } = settings;
  const logger = createLogger(settings.log, 'sender');
  const tracing = await openTracing(settings.traces, 'sender', logger);
  const onError = reportRepeated(logger, 'something failed and will be tried again');
  const ringsOptions = { ...redis.options, rowsPerTurn: lanes.TURN_ROWS, onError };
  const rings = openRings(['email', 'event'], ringsOptions);
  const db = openDatabase({
    ...settings.database.options,
    applicationName: 'posthorn-sender',
    onIdleError: onError,
    onEventsDue: (laneIds) => laneIds.forEach((laneId) => rings.event.ring(laneId)),
  });
  await waitForDatabase(db, onError);
  watchPool(db.pool);
  const relayStates = new RelayStates();
  const relays = openRelays(sender, settings.relayTokens, logger, relayStates);
  const rates = new RecordRates({ rates: new RateStore(db), relays: () => relayStates.all, onError });
  const renderers = openRenderers({ onError: reportRepeated(logger, 'a rendering thread failed') });
  // A relay on this machine may pass emails on, but with `npm run up` it is the inbox.
  if (http.PUBLIC_URL === undefined || (http.isPublicUrlLocal && sender.isRelayElsewhere))
    logger.warn(
      { publicUrl: http.publicUrl },
      'links in emails lead recipients to their own machine: set PUBLIC_URL to the address that they reach the gateway at',
    );
  const outbox = new OutboxStore(db);
  const pace = new Pace(sender.SMTP_MESSAGES_PER_SECOND, (isLowered) =>
    isLowered
      ? logger.warn(
          'the relay says that emails arrive too fast: they are sent more slowly, at the rate that it accepts',
        )
      : logger.info('the relay accepts emails at full speed again'),
  );
  const gate = new LaneGate(sender.SMTP_CONNECTIONS, () => pace.turn());
  const spans = tracing.tracer && new EmailSpans(tracing.tracer);
  const sendEmails = new SendEmails({
    outbox,
    rings: rings.email,
    relays,
    delivery: new DeliverEmail({
      composer: openComposer(composerParts(db, renderers, settings)),
      bounceAddresses: secrets.addresses('bounce', bounces.BOUNCE_DOMAIN),
      reportsDeliveries: bounces.BOUNCE_REPORT_DELIVERIES,
      recipients: new WithheldRecipients(outbox),
      relays,
      gate,
      pace,
      spans,
      onError,
    }),
    spans,
    connections: sender.SMTP_CONNECTIONS,
    ...lanes.options,
    onError,
  });
  const worker = new JobWorker<'email.turn'>({
    ...redis.options,
    queue: QUEUES.emailTurns,
    concurrency: lanes.TURN_CONCURRENCY,
    handlers: { 'email.turn': ({ laneId, slot }) => sendEmails.serve(laneId, slot) },
    onError,
  });
  const app = await createHealthApp({
    logger,
    settings: http,
    health: {
      liveness: { turns: () => worker.liveness() },
      dependencies: { database: () => checkDatabase(db), redis: () => rings.email.ping() },
    },
  });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'serving turns');
  const drain = [
    async () => {
      const drained = [worker.close(), sendEmails.drain()];
      // Ends all waits for what is not begun any more: for the pace, for a connection, for a silent relay, and for the text or template of an email. Each can
      // take minutes.
      pace.stop();
      gate.open();
      relays.leave();
      await Promise.all([...drained, closeRenderers(renderers)]);
    },
    () => closeRings(rings),
    () => relays.close(),
    () => rates.close(),
    () => db.close(),
    () => tracing.close(),
  ];
  const ended = runUntilSignal(app, { logger, drain });
  // Only after the signal handlers are installed: work that has begun must be finished on shutdown.
  worker.start();
  await ended;
});
