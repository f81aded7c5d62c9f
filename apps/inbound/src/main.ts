import {
  checkDatabase,
  waitForDatabase,
  openDatabase,
  RateStore,
  ReportStore,
  SubscriptionStore,
} from '@posthorn/database';
import {
  BounceSettings,
  createHealthApp,
  createLogger,
  DatabaseSettings,
  HttpSettings,
  inboundRefusals,
  InboundSettings,
  LogSettings,
  networkOf,
  readSettings,
  reportRepeated,
  runUntilSignal,
  SecretSettings,
  startProcess,
  watchPool,
} from '@posthorn/platform';
import { isAutomaticReply, readReturnedMail, ReportListener } from '@posthorn/reports';
import { RecordRates, TakeReport, TakeUnsubscription } from '@posthorn/use-cases';
import { reloadCertificateHourly, loadCertificate } from './certificate.ts';
import { postmasterOf } from './postmaster.ts';

await startProcess('inbound', async () => {
  const { http, database, log, secrets, bounces, inbound } = readSettings({
    http: HttpSettings,
    database: DatabaseSettings,
    log: LogSettings,
    secrets: SecretSettings,
    bounces: BounceSettings,
    inbound: InboundSettings,
  });
  const logger = createLogger(log, 'inbound');
  const onError = reportRepeated(logger, 'something failed and will be tried again');
  // Lanes of events are not rung from here, so that an app open to the Internet needs no Redis: the scheduler does it within a second.
  const db = openDatabase({ ...database.options, applicationName: 'posthorn-inbound', onIdleError: onError });
  await waitForDatabase(db, onError);
  watchPool(db.pool);
  const rates = new RecordRates({ rates: new RateStore(db), onError });
  const domain = bounces.BOUNCE_DOMAIN ?? 'localhost';
  const onRefused = reportRepeated(logger, 'a returned mail was refused');
  const takeReport = new TakeReport({
    addresses: secrets.addresses('bounce', domain),
    reports: new ReportStore(db),
    read: readReturnedMail,
    onError: onRefused,
  });
  const takeUnsubscription = new TakeUnsubscription({
    addresses: secrets.addresses('unsubscribe', domain),
    subscriptions: new SubscriptionStore(db),
    isAutomaticReply,
    onError: onRefused,
  });
  const postmaster = postmasterOf(
    domain,
    reportRepeated(logger, 'mail to the postmaster was accepted and not kept'),
  );
  const listener = new ReportListener({
    name: domain,
    certificate: await loadCertificate(inbound),
    limits: { ...inbound.limits, peerOf: networkOf },
    findReceiver: async (address) =>
      (await takeReport.receiverOf(address)) ??
      (await takeUnsubscription.receiverOf(address)) ??
      postmaster(address),
    onError,
    onRefusal: (reason) => inboundRefusals.inc({ reason }),
  });
  const app = await createHealthApp({
    logger,
    settings: http,
    health: { dependencies: { database: () => checkDatabase(db) } },
  });
  await app.listen(http.HTTP_PORT, http.HTTP_HOST);
  const drain = [() => listener.close(), () => rates.close(), () => db.close()];
  const ended = runUntilSignal(app, { logger, drain });
  if (bounces.BOUNCE_DOMAIN === undefined) {
    logger.info('BOUNCE_DOMAIN is not set: no mail is accepted');
  } else {
    const port = await listener.listen(inbound.INBOUND_PORT, inbound.INBOUND_HOST);
    reloadCertificateHourly(inbound, (certificate) => listener.renewCertificate(certificate), onError);
    logger.info({ port, domain }, 'accepting returned mail');
  }
  await ended;
});
