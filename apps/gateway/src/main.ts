import { Authenticate, IdentifyCaller, KeyUses, RateLimits } from '@posthorn/auth';
import { closeRings, openRings, RateLimiter } from '@posthorn/queues';
import { DnsResolver } from '@posthorn/dns';
import {
  BounceSettings,
  MessageSettings,
  AcceptanceSettings,
  createHttpApp,
  createLogger,
  DatabaseSettings,
  DnsSettings,
  GatewaySettings,
  HttpSettings,
  LaneSettings,
  LogSettings,
  RateSettings,
  openTracing,
  readSettings,
  RedisSettings,
  reportRepeated,
  runUntilSignal,
  SecretSettings,
  deferFullCollections,
  startProcess,
  TraceSettings,
  SystemMailSettings,
  TrackingSettings,
  watchPool,
  WebhookSettings,
} from '@posthorn/platform';
import { SIZES } from '@posthorn/domain';
import {
  ApiKeyStore,
  checkDatabase,
  waitForDatabase,
  HitStore,
  IdentityStore,
  openDatabase,
  RateStore,
  TrackingHostStore,
} from '@posthorn/database';
import { closeRenderers, openRenderers } from '@posthorn/rendering';
import { admitSystemSender, composerParts, FollowLink, NoticeHits, RecordRates } from '@posthorn/use-cases';
import { NO_EMAIL } from './emails/validate-email-request.ts';
import { GatewayModule } from './gateway.module.ts';
import { renderError } from './pages/error-page.ts';
import { refusalOf } from './refusal-of.ts';
import { PendingMails } from './system/pending-mails.ts';
import { noBatch } from './validation/batch.ts';

/** For saving and previewing templates, not for sending. Few may wait, since waiting requests count against the limit of requests in flight. */
const THREADS = { maxThreads: 2, maxWaiting: 50 };

/** The limits of bodies, by path where they differ. */
const BODIES = {
  maxBytes: SIZES.body.max,
  maxBytesByPath: { '/v1/emails/batch': SIZES.batchBody.max },
  batchByPath: {
    '/v1/emails/batch': 'emails',
    '/v1/contacts/batch': 'contacts',
    '/v1/suppressions/batch': 'suppressions',
  },
  refusalByPath: {
    '/v1/emails': NO_EMAIL,
    '/v1/emails/batch': noBatch('emails', SIZES.batch),
    '/v1/contacts/batch': noBatch('contacts', SIZES.contactBatch),
    '/v1/suppressions/batch': noBatch('suppressions', SIZES.suppressionBatch),
  },
} as const;

/**
 * How long requests are still accepted after the signal to shut down, since one may be on its way over a kept-alive connection. Each answer
 * closes its connection.
 */
const ACCEPT_AFTER_SIGNAL_MS = 500;

// The gateway processes bodies of megabytes.
deferFullCollections();

await startProcess('gateway', async () => {
  const settings = readSettings({
    http: HttpSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    log: LogSettings,
    traces: TraceSettings,
    acceptance: AcceptanceSettings,
    gateway: GatewaySettings,
    systemMail: SystemMailSettings,
    rates: RateSettings,
    lanes: LaneSettings,
    secrets: SecretSettings,
    webhooks: WebhookSettings,
    dns: DnsSettings,
    tracking: TrackingSettings,
    bounces: BounceSettings,
    messages: MessageSettings,
  });
  const { http, redis, gateway, systemMail, dns } = settings;
  const logger = createLogger(settings.log, 'gateway');
  const tracing = await openTracing(settings.traces, 'gateway', logger);
  const onError = reportRepeated(logger, 'a dependency does not answer');
  const ringsOptions = { ...redis.options, rowsPerTurn: settings.lanes.TURN_ROWS, onError };
  const rings = openRings(['email', 'event', 'webhook'], ringsOptions);
  const db = openDatabase({
    ...settings.database.options,
    applicationName: 'posthorn-gateway',
    onIdleError: onError,
    onEventsDue: (laneIds) => laneIds.forEach((laneId) => rings.event.ring(laneId)),
  });
  await waitForDatabase(db, onError, () => admitSystemSender(new IdentityStore(db), systemMail.from));
  watchPool(db.pool);
  const counts = new RecordRates({ rates: new RateStore(db), onError });
  const apiKeys = new ApiKeyStore(db);
  const keyUses = new KeyUses({ apiKeys, clock: db.clock, onError });
  const onThreadError = reportRepeated(logger, 'a rendering thread failed');
  const renderers = openRenderers({ ...THREADS, onError: onThreadError });
  const parts = composerParts(db, renderers, settings);
  const trackingUrl = settings.tracking.trackingUrl(http.publicUrl);
  const hosts = new TrackingHostStore(db);
  const hits = new NoticeHits({ hits: new HitStore(db), onError });
  const limiter = new RateLimiter({ ...redis.options, onError });
  const limits = new RateLimits({ limiter, ...settings.rates.options });
  const callers = new IdentifyCaller(new Authenticate(apiKeys, keyUses), limits);
  const app = await createHttpApp(
    GatewayModule.of({
      ...parts,
      rings: rings.email,
      limits,
      limiter,
      monthlyLimit: settings.acceptance.monthlyLimit,
      webhookPolicy: settings.webhooks.policy,
      webhookRings: rings.webhook,
      systemFrom: systemMail.from,
      resolver: new DnsResolver(dns.options),
      spfInclude: dns.SPF_INCLUDE,
      publicUrl: http.publicUrl,
      followLink: new FollowLink({ links: parts.trackingLinks, hosts, trackingUrl, onError }),
      hits,
      callers,
      onUntold: (untold) => logger.warn(untold, 'a notice reached nobody'),
      onError,
    }),
    {
      logger,
      settings: http,
      inFlight: { maxRequests: gateway.MAX_REQUESTS_IN_FLIGHT, maxBytes: gateway.MAX_BYTES_IN_FLIGHT },
      bodies: {
        ...BODIES,
        admitLongBody: async (request, response) => (await callers.admit(request, response)).workspaceId,
      },
      errors: { refusalOf, onCause: onError, renderError },
      alwaysAdmitted: ['/t/'],
      tracer: tracing.tracer,
      answerHeaders: (request) => limits.headersOf(request),
      health: {
        dependencies: { database: () => checkDatabase(db), redis: () => rings.email.ping() },
      },
    },
  );
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'listening');
  await runUntilSignal(app, {
    logger,
    lingerMs: ACCEPT_AFTER_SIGNAL_MS,
    drain: [
      () => app.get(PendingMails, { strict: false }).close(),
      () => hits.close(),
      () => closeRings(rings),
      () => limiter.close(),
      () => keyUses.close(),
      () => counts.close(),
      () => closeRenderers(renderers),
      () => db.close(),
      () => tracing.close(),
    ],
  });
});
