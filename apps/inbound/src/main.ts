import { checkDatabase, waitForDatabase, openDatabase, RateStore, ReportStore } from '@posthorn/database';
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
import { readReturnedMail, ReportListener } from '@posthorn/reports';
import { RecordRates, TakeReport } from '@posthorn/use-cases';
import { reloadCertificateHourly, loadCertificate } from './certificate.ts';

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
  const { BOUNCE_DOMAIN: domain } = bounces;
  const takeReport = new TakeReport({
    addresses: secrets.bounceAddresses(domain ?? ''),
    reports: new ReportStore(db),
    read: readReturnedMail,
    onError: reportRepeated(logger, 'a returned mail was refused'),
  });
  const listener = new ReportListener({
    name: domain ?? 'localhost',
    certificate: await loadCertificate(inbound),
    limits: { ...inbound.limits, peerOf: networkOf },
    findEmail: (address) => takeReport.findEmail(address),
    take: (emailId, beginning) => takeReport.take(emailId, beginning),
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
  if (domain === undefined) {
    logger.info('BOUNCE_DOMAIN is not set: no mail is accepted');
  } else {
    const port = await listener.listen(inbound.INBOUND_PORT, inbound.INBOUND_HOST);
    reloadCertificateHourly(inbound, (certificate) => listener.renewCertificate(certificate), onError);
    logger.info({ port, domain }, 'accepting returned mail');
  }
  await ended;
});
