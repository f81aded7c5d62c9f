import { join } from 'node:path';
import { ROOT } from '../../stack/runtime.mjs';
import { loadLibs } from '../command-context.mjs';
import { findSettings, unknownNames } from './find-settings.mjs';

const MIGRATIONS = join(ROOT, 'prisma', 'migrations');

/**
 * Examines everything that an installation needs, with the settings of the environment, of `.env` or of the local stack.
 *
 * @param {(error: Error) => import('@posthorn/domain').Finding} describeError
 * @returns {Promise<import('@posthorn/use-cases/operate').Examination>}
 */
export async function examineInstallation(describeError) {
  const libs = {
    ...(await loadLibs()),
    queues: await import('@posthorn/queues'),
    smtp: await import('@posthorn/smtp'),
    dns: await import('@posthorn/dns'),
  };
  const env = findSettings();
  const { settings, faults } = readSections(libs.settings, env);
  const { relays, faults: relayFaults } = openRelays(libs, settings);
  const database = settings.database && new libs.database.ExaminedDatabase(settings.database.DATABASE_URL);
  const checks = [
    ...libs.useCases.machineChecks({
      settingsFaults: [...faults, ...relayFaults],
      unknownSettings: unknownNames(libs.settings),
      publicUrls: publicUrls(settings),
      isRelayElsewhere: settings.sender?.isRelayElsewhere ?? false,
      inbound: inboundOf(settings),
    }),
    ...(database === undefined ? [] : databaseChecks(libs, settings, database)),
    ...(database === undefined || settings.secrets === undefined
      ? []
      : libs.useCases.trackingHostChecks({ database, ...linksOf(settings) })),
    ...(settings.redis === undefined
      ? []
      : libs.useCases.redisChecks(() => libs.queues.examineRedis(settings.redis.options))),
    ...dnsChecks(libs, settings),
    ...libs.useCases.relayChecks(relays),
  ];
  const examination = await libs.useCases.examine(checks, describeError);
  // Not awaited, because a server that hangs would delay it; the process exits in any case.
  void database?.close().catch(() => undefined);
  return examination;
}

/** The sections of settings that are valid; a fault in one does not hide those in others. */
function readSections({ ALL_SECTIONS, readSettings, SettingsError }, env) {
  const settings = /** @type {any} */ ({});
  const faults = Object.entries(ALL_SECTIONS).flatMap(([name, section]) => {
    try {
      settings[name] = readSettings({ [name]: section }, env)[name];
      return [];
    } catch (error) {
      if (!(error instanceof SettingsError)) throw error;
      return error.faults;
    }
  });
  return { settings, faults: [...new Set(faults)] };
}

function publicUrls({ http, tracking }) {
  const { PUBLIC_URL } = http ?? {};
  const { TRACKING_URL } = tracking ?? {};
  return { PUBLIC_URL, ...(TRACKING_URL === undefined ? {} : { TRACKING_URL }) };
}

function linksOf({ http, tracking, secrets }) {
  const linksUrl = tracking?.TRACKING_URL ?? http?.PUBLIC_URL;
  return { signer: secrets.linkSigner, linksUrl };
}

/** Where a server that listens on all addresses can be reached from its machine, which may have no IPv4. */
const LOOPBACK_OF = { '0.0.0.0': '127.0.0.1', '::': '::1' };

function inboundOf({ bounces, inbound }) {
  if (bounces?.BOUNCE_DOMAIN === undefined || inbound === undefined) return undefined;
  const { INBOUND_HOST: host, INBOUND_PORT: port } = inbound;
  return { host: LOOPBACK_OF[host] ?? host, port, domain: bounces.BOUNCE_DOMAIN };
}

function databaseChecks({ useCases, database: lib }, { database: at, secrets, systemMail }, database) {
  return useCases.databaseChecks({
    database,
    findMissingMigrations: () => lib.examineMigrations(at.DATABASE_URL, MIGRATIONS),
    box: secrets?.box,
    sendsMails: systemMail?.from !== undefined,
  });
}

function dnsChecks({ useCases, dns }, { dns: at, bounces, sender }) {
  if (at === undefined) return [];
  return useCases.dnsChecks({
    dns: new dns.DnsResolver(at.options),
    bounceDomain: bounces?.BOUNCE_DOMAIN,
    isRelayElsewhere: sender?.isRelayElsewhere ?? false,
    spfInclude: at.SPF_INCLUDE,
  });
}

/** The relays, and the faults of those URLs of `SMTP_URL` that no relay can be reached by. */
function openRelays({ smtp, dns }, { sender, relayTokens }) {
  const relays = /** @type {any[]} */ ([]);
  const faults = /** @type {string[]} */ ([]);
  if (sender === undefined || relayTokens === undefined) return { relays, faults };
  const { options: tokens } = relayTokens;
  const options = {
    connectionTimeoutMs: Math.min(sender.SMTP_CONNECTION_TIMEOUT_MS, 10_000),
    greetingTimeoutMs: Math.min(sender.SMTP_GREETING_TIMEOUT_MS, 10_000),
    commandTimeoutMs: 10_000,
    stepTimeoutMs: 15_000,
    tlsPolicy: sender.SMTP_TLS,
    ehloName: sender.SMTP_EHLO_NAME,
    accessTokens: tokens && new smtp.AccessTokens(tokens),
    lookUp: dns.systemAddresses,
  };
  for (const url of sender.relayUrls) {
    try {
      relays.push(new smtp.SmtpTransport(url, options));
    } catch (error) {
      faults.push(error.message);
    }
  }
  return { relays, faults };
}
