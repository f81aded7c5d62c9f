import {
  advice,
  fault,
  good,
  isLoopback,
  judgeClock,
  judgeEviction,
  judgePersistence,
  judgeRedisChanges,
  judgeRedisMemory,
  judgeRedisRole,
  judgeRedisVersion,
} from '@posthorn/domain';
import type { RedisExamination } from '@posthorn/queues';
import { describeTransmission, type RelayTransport } from '@posthorn/smtp';
import type { Check } from './examine.ts';

/** The checks of Redis; all of them share one request. */
export function redisChecks(ask: () => Promise<RedisExamination>): Check[] {
  let asked: Promise<RedisExamination> | undefined;
  const answer = (): Promise<RedisExamination> => (asked ??= ask());
  return [
    { name: 'redis.version', run: async () => judgeRedisVersion((await answer()).facts) },
    { name: 'redis.role', run: async () => judgeRedisRole((await answer()).facts) },
    {
      name: 'redis.changes',
      run: async () => {
        const { facts, refusal } = await answer();
        return judgeRedisChanges(facts, refusal);
      },
    },
    { name: 'redis.eviction', run: async () => judgeEviction((await answer()).facts) },
    { name: 'redis.persistence', run: async () => judgePersistence((await answer()).facts) },
    { name: 'redis.memory', run: async () => judgeRedisMemory((await answer()).facts) },
    {
      name: 'redis.clock',
      run: async () => {
        const { offsetMs, roundTripMs } = await answer();
        return judgeClock('Redis', offsetMs, roundTripMs);
      },
    },
  ];
}

/** Enough for a token endpoint that stalls for 10 s, and then four addresses that accept a connection and stall as long: the finding then says at which stage. */
const RELAY_WITHIN_MS = 55_000;
const PORT = /:\d+$/;

/** Connects to each relay, upgrades to TLS, logs in and quits; nothing is sent. */
export function relayChecks(relays: readonly Pick<RelayTransport, 'name' | 'greet'>[]): Check[] {
  return relays.map((relay) => ({
    name: `relay ${relay.name}`,
    withinMs: RELAY_WITHIN_MS,
    run: async () => {
      const answer = await relay.greet();
      if (answer.kind !== 'welcome')
        return fault(`it does not accept mail from us: ${describeTransmission(answer)}`, mendOf(answer));
      const login = { 'taken': ', and has accepted our login', 'not asked for': '', 'none': '' }[
        answer.login
      ];
      const found = `it accepts mail from us${answer.isSecured ? ' over TLS' : ' in clear'}${login}`;
      if (answer.login === 'not asked for')
        return advice(
          `${found}, but offers no login though SMTP_URL has one`,
          'check that this is the right port of the relay',
        );
      if (answer.login === 'taken' && !answer.isSecured && !isLoopback(relay.name.replace(PORT, '')))
        return advice(`${found}: who listens has the password`, 'set SMTP_TLS to verified, or use smtps://');
      if (answer.tlsFailure !== undefined)
        return advice(
          `${found}, because the STARTTLS that it offers fails: ${describeTransmission(answer.tlsFailure)}`,
          'ask the operator of the relay to correct or remove STARTTLS: each connection tries it first, and waits for it',
        );
      return good(answer.login === 'none' ? `${found}, without a login` : found);
    },
  }));
}

const CERTIFICATE = 'see the certificate of the relay, SMTP_TLS and NODE_EXTRA_CA_CERTS';

const MENDS: Readonly<Record<string, string>> = {
  connect:
    'check that host and port in SMTP_URL are correct, that no firewall blocks us, and that the relay is running',
  greeting: 'ask the operator of the relay whether it accepts connections from this address',
  ehlo: 'set SMTP_EHLO_NAME to a full domain name, or ask the operator of the relay whether it accepts connections from this address',
  starttls: CERTIFICATE,
  auth: 'correct user and password in SMTP_URL (percent-encoded), or ask the operator of the relay for others; with an access token, check that its client and scope may send as this user',
};

/** Advice by the messages of OpenSSL and Node when TLS fails before the greeting, which means with smtps://. */
const TLS_MENDS: readonly (readonly [RegExp, string])[] = [
  [
    /wrong version number|packet length too long/,
    'write smtp:// instead of smtps:// in SMTP_URL: this port does not begin with TLS, though it may offer STARTTLS',
  ],
  [/certificate/i, CERTIFICATE],
];
const SILENT =
  'check that SMTP_URL has smtps:// if this port begins with TLS, as 465 does; otherwise ask the operator of the relay';

/** RFC 4954, section 6: the relay does not support this authentication mechanism. */
const NO_SUCH_LOGIN = 504;
const OTHER_LOGIN =
  'ask the operator of the relay for a login by PLAIN or LOGIN, with a user and a password, or for the port that has one; for XOAUTH2, leave out the password and set SMTP_OAUTH_TOKEN_URL';
/** RFC 4954, section 6: 454 is a temporary failure. Large providers also answer it to those who have logged in too often. */
const LOGIN_LATER =
  'wait: the relay accepts no logins at the moment, whatever user and password are; if this persists, ask its operator';
const NO_TOKEN = /^no access token/;
const TOKEN_REQUEST =
  'correct SMTP_OAUTH_TOKEN_URL and the other settings that begin with SMTP_OAUTH_, and check that no firewall blocks us';
const OLD_TLS = /protocol version|unsupported protocol/;
const NEWER_TLS =
  'ask the operator of the relay for TLS 1.2 or newer: it speaks only versions that are no longer safe';

function mendOf(answer: Parameters<typeof describeTransmission>[0]): string {
  const stage = 'stage' in answer ? answer.stage : 'connect';
  const broken = answer.kind === 'broken' ? answer.error : undefined;
  if (broken !== undefined && stage === 'greeting') return SILENT;
  if (broken !== undefined && OLD_TLS.test(broken)) return NEWER_TLS;
  if (stage === 'auth' && answer.kind === 'refused' && answer.reply.code === NO_SUCH_LOGIN)
    return OTHER_LOGIN;
  if (stage === 'auth' && answer.kind === 'refused' && answer.reply.code < 500) return LOGIN_LATER;
  if (broken !== undefined && NO_TOKEN.test(broken)) return TOKEN_REQUEST;
  const ofTls = stage === 'connect' && TLS_MENDS.find(([words]) => words.test(broken ?? ''));
  if (ofTls) return ofTls[1];
  return MENDS[stage] ?? 'ask the operator of the relay';
}
