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
import { describeTransmission, type SmtpTransport } from '@posthorn/smtp';
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
export function relayChecks(relays: readonly Pick<SmtpTransport, 'name' | 'greet'>[]): Check[] {
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

/** What kept a relay from greeting us. */
interface Failure {
  readonly stage: string;
  /** What broke the connection; empty if the relay has answered. */
  readonly broken: string;
  /** The code with which the relay has refused; undefined: it has not answered. */
  readonly code: number | undefined;
}

/** RFC 4954, section 6: the relay does not support this authentication mechanism. */
const NO_SUCH_LOGIN = 504;
const CERTIFICATE = 'see the certificate of the relay, SMTP_TLS and NODE_EXTRA_CA_CERTS';

/** What to do about a failure; the first that applies counts. */
const MENDS: readonly (readonly [is: (failure: Failure) => boolean, mend: string])[] = [
  [
    ({ stage, code }) => stage === 'greeting' && code === undefined,
    'check that SMTP_URL has smtps:// if this port begins with TLS, as 465 does; otherwise ask the operator of the relay',
  ],
  [
    ({ broken }) => /protocol version|unsupported protocol/.test(broken),
    'ask the operator of the relay for TLS 1.2 or newer: it speaks only versions that are no longer safe',
  ],
  [
    ({ stage, code }) => stage === 'auth' && code === NO_SUCH_LOGIN,
    'ask the operator of the relay for a login by PLAIN or LOGIN, with a user and a password, or for the port that has one; for XOAUTH2, leave out the password and set SMTP_OAUTH_TOKEN_URL',
  ],
  [
    // RFC 4954, section 6: 454 is a temporary failure. Large providers also answer it to those who have logged in too often.
    ({ stage, code }) => stage === 'auth' && code !== undefined && code < 500,
    'wait: the relay accepts no logins at the moment, whatever user and password are; if this persists, ask its operator',
  ],
  [
    ({ broken }) => broken.startsWith('no access token'),
    'correct SMTP_OAUTH_TOKEN_URL and the other settings that begin with SMTP_OAUTH_, and check that no firewall blocks us',
  ],
  // When TLS fails before the greeting, which means with smtps://: the messages of OpenSSL and Node.
  [
    ({ stage, broken }) => stage === 'connect' && /wrong version number|packet length too long/.test(broken),
    'write smtp:// instead of smtps:// in SMTP_URL: this port does not begin with TLS, though it may offer STARTTLS',
  ],
  [({ stage, broken }) => stage === 'connect' && /certificate/i.test(broken), CERTIFICATE],
  [
    ({ stage }) => stage === 'connect',
    'check that host and port in SMTP_URL are correct, that no firewall blocks us, and that the relay is running',
  ],
  [
    ({ stage }) => stage === 'greeting',
    'ask the operator of the relay whether it accepts connections from this address',
  ],
  [
    ({ stage }) => stage === 'ehlo',
    'set SMTP_EHLO_NAME to a full domain name, or ask the operator of the relay whether it accepts connections from this address',
  ],
  [({ stage }) => stage === 'starttls', CERTIFICATE],
  [
    ({ stage }) => stage === 'auth',
    'correct user and password in SMTP_URL (percent-encoded), or ask the operator of the relay for others; with an access token, check that its client and scope may send as this user',
  ],
  [() => true, 'ask the operator of the relay'],
];

function mendOf(answer: Parameters<typeof describeTransmission>[0]): string {
  const failure = {
    stage: 'stage' in answer ? answer.stage : 'connect',
    broken: answer.kind === 'broken' ? answer.error : '',
    code: answer.kind === 'refused' ? answer.reply.code : undefined,
  };
  return MENDS.find(([is]) => is(failure))![1];
}
