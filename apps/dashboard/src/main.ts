import {
  checkDatabase,
  waitForDatabase,
  openDatabase,
  OperatorAccountStore,
  OperatorSessionStore,
} from '@posthorn/database';
import type { DatabaseClock } from '@posthorn/kernel';
import {
  BounceSettings,
  MessageSettings,
  AcceptanceSettings,
  countWhenRead,
  createHttpApp,
  createLogger,
  DashboardSettings,
  DatabaseSettings,
  HttpSettings,
  LaneSettings,
  LogSettings,
  ProviderSettings,
  RateSettings,
  readSettings,
  RedisSettings,
  reportRepeated,
  runUntilSignal,
  SecretSettings,
  startProcess,
  TrackingSettings,
  watchPool,
} from '@posthorn/platform';
import { closeRings, openRings, RateLimiter, ReadOnlyQueues } from '@posthorn/queues';
import { closeRenderers, openRenderers } from '@posthorn/rendering';
import { composerParts, OperatorSessions } from '@posthorn/use-cases';
import express from 'express';
import { DashboardModule } from './dashboard.module.ts';
import { refusalOf, renderError } from './pages/error-page.ts';
import { queueBoards } from './queues/queue-boards.ts';
import { sessionGuard } from './sign-in/session-guard.ts';
import { SessionCookie } from './sign-in/session-cookie.ts';
import { IdentityProvider } from './sign-in/identity-provider.ts';
import { SignInCookie } from './sign-in/sign-in-cookie.ts';
import { SignInMethods, TrustedProxies } from './sign-in/sign-in-methods.ts';

const QUEUES_PATH = '/queues';
const MAX_FORM_BYTES = 8 * 1024;
/** Few: operators look at few emails at once. */
const THREADS = { maxThreads: 1, maxWaiting: 20 };

await startProcess('dashboard', async () => {
  const settings = readSettings({
    http: HttpSettings,
    log: LogSettings,
    database: DatabaseSettings,
    redis: RedisSettings,
    rates: RateSettings,
    secrets: SecretSettings,
    tracking: TrackingSettings,
    bounces: BounceSettings,
    messages: MessageSettings,
    acceptance: AcceptanceSettings,
    lanes: LaneSettings,
    dashboard: DashboardSettings,
    provider: ProviderSettings,
  });
  const { http, redis, provider } = settings;
  const logger = createLogger(settings.log, 'dashboard');
  const onError = reportRepeated(logger, 'a dependency does not answer');
  const db = openDatabase({
    ...settings.database.options,
    applicationName: 'posthorn-dashboard',
    onIdleError: onError,
  });
  await waitForDatabase(db, onError);
  watchPool(db.pool);
  const limiter = new RateLimiter({ ...redis.options, onError });
  const queues = new ReadOnlyQueues(redis.options, onError);
  const ringsOptions = { ...redis.options, rowsPerTurn: settings.lanes.TURN_ROWS, onError };
  const rings = openRings(['email', 'webhook'], ringsOptions);
  const onThreadError = reportRepeated(logger, 'a rendering thread failed');
  const renderers = openRenderers({ ...THREADS, onError: onThreadError });
  if (http.PUBLIC_URL === undefined)
    logger.warn(
      'PUBLIC_URL is not set: links in displayed messages differ from those that are sent; set it to the same value as for the gateway',
    );
  const url = new URL(settings.dashboard.DASHBOARD_URL ?? `http://localhost:${http.HTTP_PORT}`);
  const methods = signInMethods(provider, url, db.clock, onError);
  const sessions = new OperatorSessions(new OperatorAccountStore(db), new OperatorSessionStore(db), limiter, {
    ofAccounts: methods.byPassword,
    issuer: provider.OIDC_ISSUER,
  });
  const isSecure = url.protocol === 'https:';
  const cookie = new SessionCookie(isSecure);
  const app = await createHttpApp(
    DashboardModule.of({
      ...composerParts(db, renderers, settings),
      rings: rings.email,
      webhookRings: rings.webhook,
      queues,
      publicUrl: http.publicUrl,
      monthlyLimit: settings.acceptance.monthlyLimit,
      sessions,
      sessionCookie: cookie,
      signInCookie: new SignInCookie(isSecure),
      methods,
      proxies: new TrustedProxies(settings.rates.options.trustedProxies),
    }),
    {
      logger,
      settings: http,
      isSecure,
      bodies: 'unread',
      errors: { refusalOf, onCause: onError, renderError },
      health: {
        dependencies: { database: () => checkDatabase(db), redis: () => queues.ping() },
      },
    },
  );
  app.use(sessionGuard({ sessions, cookie, origin: url.origin }));
  app.use(QUEUES_PATH, queueBoards(queues, QUEUES_PATH));
  app.use(countWhenRead(express.urlencoded({ extended: false, limit: MAX_FORM_BYTES })));
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  logger.info({ port: http.HTTP_PORT }, 'listening');
  await runUntilSignal(app, {
    logger,
    drain: [
      () => queues.close(),
      () => closeRings(rings),
      () => limiter.close(),
      () => closeRenderers(renderers),
      () => db.close(),
    ],
  });
});

function signInMethods(
  settings: ProviderSettings,
  at: URL,
  clock: DatabaseClock,
  onError: (error: unknown) => void,
): SignInMethods {
  const { options, PASSWORD_SIGN_IN: byPassword } = settings;
  if (options === undefined) return new SignInMethods(byPassword, undefined);
  const callback = new URL('/sign-in/provider/callback', at);
  return new SignInMethods(byPassword, new IdentityProvider(options, callback, clock, onError));
}
